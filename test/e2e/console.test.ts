/** The console in a real Chromium, with the passkeys of real people on a real gate: what is signed runs once. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { auditLedger, listPeople, listTokens } from '../../src/app/index.js';
import { CENTER, launchChromium, readAll, Visitor } from '../support/browser.js';
import {
  type ConsoleWorld,
  consoleWorld,
  firstPerson,
  nextPerson,
  type Person,
  signInAt,
} from '../support/console-world.js';
import { packageIn, step } from '../support/gate-packages.js';
import { proposed, type sending } from '../support/gate-world.js';
import { newToken, WHOLE } from '../support/server-world.js';
import { verifies } from '../support/verifies.js';

const approveOn = (page: Page) => page.getByRole('button', { name: 'Approve with your passkey' });

let texts = 0;
/** An action that nobody asked for before. */
function another(changes: Parameters<typeof sending>[0] = {}) {
  texts += 1;
  return { ...changes, args: { text: `text ${texts}`, ...changes.args } };
}

describe('the console', () => {
  let browser: Browser;
  let world: ConsoleWorld;
  let alice: Person;
  let bob: Person;
  before(async () => {
    browser = await launchChromium();
    world = await consoleWorld();
    alice = await firstPerson(world, browser);
    bob = await nextPerson(world, browser, alice, 'bob');
  });
  afterEach(async () => {
    for (const { page, visitor } of [alice, bob]) {
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      assert.deepEqual(visitor.reported.splice(0), []);
    }
  });
  after(async () => {
    await browser.close();
    await world.close();
  });

  const openAction = async ({ page }: Person, id: string) => {
    await page.goto(`/actions/${id}`);
    await page.getByRole('heading', { name: 'What you sign' }).waitFor();
  };

  it('lets people in by a link, a passkey and a typed code, and lets them in again by the passkey', async () => {
    verifies('console.enrolment');
    verifies('console.session');
    const { page } = bob;
    assert.deepEqual((await world.gate.ledger.list({ kind: 'person' })).rows.map(({ id }) => id).sort(), [
      'human:alice',
      'human:bob',
    ]);
    assert.ok(!page.url().includes('#'), 'the secret stays in no address');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    await page.goto('/people');
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    await signInAt(page);
    const stranger = await Visitor.arrive(browser, world.origin);
    const { page: elsewhere } = await stranger.tab();
    await elsewhere.goto('/');
    await elsewhere.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await elsewhere.getByRole('alert').waitFor();
    assert.deepEqual(stranger.reported, []);
    await stranger.context.close();
  });

  it('shows exactly the lines that are signed, and what is approved runs once', async () => {
    verifies('console.approve');
    const { page } = alice;
    await page.goto('/');
    const action_id = await proposed(world, another());
    // It comes by itself: nobody loads the page again.
    verifies('console.live');
    await page.locator(`a[href="/actions/${action_id}"]`).click();
    await readAll(page);
    const lines = await page.getByRole('list', { name: 'What is signed' }).getByRole('listitem').allTextContents();
    assert.deepEqual(lines, (await world.gate.summary(action_id)).lines);
    await approveOn(page).click();
    await page.getByText('It ran once, and is confirmed').waitFor();
    assert.equal(world.connector.effectsOf(action_id), 1);
    const receipt = await world.gate.receiptOf(action_id);
    assert.deepEqual([receipt?.method, receipt?.request.approver], ['webauthn', 'human:alice']);
    await page.getByText('approved by alice').waitFor();
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('shows what happened while an older answer was on its way', async () => {
    verifies('console.live');
    const { page } = alice;
    const asked = new Set<Promise<unknown>>();
    let answer: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let isBefore = true;
    await page.route('**/v1/decisions**', async (route) => {
      if (!isBefore) return route.continue();
      const response = route.fetch();
      asked.add(response);
      await response;
      await held;
      return route.fulfill({ response: await response });
    });
    const stream = page.waitForRequest('**/v1/events**');
    await page.goto('/');
    await stream;
    await page.waitForTimeout(500);
    assert.ok(asked.size > 0, 'the inbox was asked for');
    await Promise.all(asked);
    isBefore = false;
    const action_id = await proposed(world, another());
    await page.waitForTimeout(1_000);
    answer?.();
    await page.locator(`a[href="/actions/${action_id}"]`).waitFor();
  });

  it('opens approving only once the whole text was in view, its middle as well', async () => {
    verifies('console.read-all');
    const { page } = alice;
    const long = 'word '.repeat(3_000);
    await openAction(alice, await proposed(world, another({ args: { data: long } })));
    assert.ok(await approveOn(page).isDisabled());
    const pieces = page.locator('[data-piece]');
    assert.ok((await pieces.count()) > 100);
    await pieces.last().scrollIntoViewIfNeeded();
    await page.waitForTimeout(300);
    assert.ok(await approveOn(page).isDisabled(), 'jumping to the end is not reading');
    await readAll(page);
    await approveOn(page).and(page.locator(':enabled')).waitFor();
  });

  it('signs nothing else than what was shown: what changed meanwhile has to be read again', async () => {
    verifies('console.read-all');
    const { page } = alice;
    const action_id = await proposed(world, another());
    await openAction(alice, action_id);
    await readAll(page);
    await page.route('**/requests', async (route) => {
      const answer = await route.fetch({ headers: { ...route.request().headers(), 'sec-fetch-site': 'same-origin' } });
      const body = (await answer.json()) as { summary: string[] };
      await route.fulfill({ response: answer, json: { ...body, summary: [...body.summary, 'another: line'] } });
    });
    await approveOn(page).click();
    await page.getByText('It changed since you looked: nothing was signed').waitFor();
    assert.equal((await world.gate.show(action_id)).state, 'proposed');
  });

  it('denies with a reason, sends back with words, and takes back', async () => {
    verifies('console.deny');
    const { page } = alice;
    for (const [open, label, sign, told, how, words] of [
      ['Deny', 'Why not', 'Deny with your passkey', 'You denied it.', 'denied', 'not this one'],
      [
        'Send back',
        'What should be different',
        'Send back with your passkey',
        'You sent it back.',
        'changes_requested',
        'ask smaller',
      ],
      ['Cancel it', 'Why', 'Cancel it', 'taken back by human:alice', 'withdrawn', 'not needed'],
    ] as const) {
      const action_id = await proposed(world, another());
      await openAction(alice, action_id);
      await page.getByRole('button', { name: open, exact: true }).click();
      await page.getByLabel(label).fill(words);
      await page.getByRole('button', { name: sign, exact: true }).click();
      await page.getByText(told).first().waitFor();
      const { closed, state } = await world.gate.show(action_id);
      assert.deepEqual([state, closed?.how, closed?.words, closed?.by], ['cancelled', how, words, 'human:alice']);
      assert.equal(world.connector.effectsOf(action_id), 0);
    }
  });

  it('counts two people, each of whom sees how many have signed', async () => {
    verifies('console.quorum');
    const action_id = await proposed(world, another({ operation: 'guarded' }));
    await openAction(bob, action_id);
    await openAction(alice, action_id);
    await readAll(alice.page);
    await approveOn(alice.page).click();
    await alice.page.getByText('Signed: 1 of 2 approvals.').waitFor();
    await bob.page.getByText('waits for 1 approval').waitFor();
    await readAll(bob.page);
    assert.equal((await world.gate.show(action_id)).state, 'proposed');
    await approveOn(bob.page).click();
    await bob.page.getByText('Approved. agent:local runs it.').waitFor();
    await alice.page.getByText('approved by alice, bob').waitFor();
    await world.gate.execute(action_id);
    await alice.page.getByText('confirmed', { exact: true }).first().waitFor();
    assert.equal(world.connector.effectsOf(action_id), 1);
  });

  it('asks anew for a request that ended while somebody looked, and says of an action that it ended', async () => {
    verifies('console.expired');
    const { page } = alice;
    const action_id = await proposed(world, another());
    await openAction(alice, action_id);
    await readAll(page);
    const requests: string[] = [];
    page.on('request', (request) => request.url().endsWith('/requests') && requests.push(request.url()));
    // The passkey takes longer than the request lives, the first time.
    await page.route('**/approve', (route) => {
      if (requests.length === 1) world.clock.advance(16 * 60_000);
      return route.continue();
    });
    await approveOn(page).click();
    await page.getByText('It ran once, and is confirmed').waitFor();
    assert.equal(requests.length, 2);
    assert.equal(world.connector.effectsOf(action_id), 1);
    const late = await proposed(world, another({ approve_within_ms: 60_000 }));
    await openAction(alice, late);
    await readAll(page);
    world.clock.advance(60_000);
    await approveOn(page).click();
    await page.getByText('Code: expired').waitFor();
    assert.equal(world.connector.effectsOf(late), 0);
  });

  it('has one result for double clicks, for late clicks and for two tabs, and says which', async () => {
    verifies('console.one-result');
    const { page } = alice;
    const action_id = await proposed(world, another());
    const tab = await alice.visitor.tab(alice);
    await openAction(alice, action_id);
    await openAction({ ...alice, ...tab }, action_id);
    await readAll(tab.page);
    await page.bringToFront();
    await readAll(page);
    // The other tab hears nothing of what happens, and clicks late.
    await tab.page.route(/\/v1\/actions\/[^/]+(?:\/summary)?$/, (route) => route.abort());
    const asked: string[] = [];
    page.on('request', (request) => request.url().endsWith('/requests') && asked.push(request.url()));
    await approveOn(page).dblclick();
    await page.getByText('It ran once, and is confirmed').waitFor();
    assert.equal(asked.length, 1, 'a double click asks once');
    await tab.page.bringToFront();
    if ((await approveOn(tab.page).count()) === 1) await approveOn(tab.page).click();
    await tab.page.getByText('Code: state').waitFor();
    await tab.page.close();
    assert.equal(world.connector.effectsOf(action_id), 1);
    assert.equal((await world.gate.show(action_id)).approvals.length, 1);
  });

  it('approves several by one gesture, each of them shown in full and with a result of its own', async () => {
    verifies('console.together');
    const { page } = alice;
    const ids = [await proposed(world, another()), await proposed(world, another()), await proposed(world, another())];
    await page.goto('/');
    await page.getByRole('button', { name: 'Pick several …' }).click();
    for (const id of ids) {
      await page
        .locator('li', { has: page.locator(`a[href="/actions/${id}"]`) })
        .getByRole('checkbox')
        .check();
    }
    await page.getByRole('button', { name: 'Look at 3 together' }).click();
    const approve = page.getByRole('button', { name: 'Approve all 3 with your passkey' });
    await approve.waitFor();
    for (const piece of await page.locator('[data-piece]').all()) await piece.evaluate(CENTER);
    await approve.and(page.locator(':enabled')).waitFor();
    // One is taken back in the last moment: it says so, and the others go on.
    let gestures = 0;
    await page.route('**/requests', async (route) => {
      gestures += 1;
      if (gestures === 1) await world.gate.cancel(ids[2] ?? '');
      await route.continue();
    });
    await approve.click();
    await page.getByRole('heading', { name: 'What became of them' }).waitFor();
    assert.equal(await page.getByText('Approved, confirmed').count(), 2);
    assert.equal(await page.getByText(/^Not approved: /).count(), 1);
    assert.deepEqual(
      ids.map((id) => world.connector.effectsOf(id)),
      [1, 1, 0],
    );
    const receipt = await world.gate.receiptOf(ids[1] ?? '');
    assert.deepEqual([receipt?.batch?.challenges.length, receipt?.batch?.index], [2, 1]);
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('opens the narrowest standing approval from an action, shows what is left; who signed it takes it back', async () => {
    verifies('console.standing');
    verifies('console.own');
    const { page } = alice;
    const action_id = await proposed(world, another({ target: 'customers/acme', args: { account: 'customers/acme' } }));
    await openAction(alice, action_id);
    await page.getByRole('button', { name: 'Allow more like this' }).click();
    await page.getByLabel('How many').fill('3');
    await page.getByRole('button', { name: 'Show what would be signed' }).click();
    const sheet = page.getByRole('region', { name: 'Allow more like this' });
    await sheet.getByText('3 actions, no money').waitFor();
    await readIn(page, sheet);
    await sheet.getByRole('button', { name: 'Sign with your passkey' }).click();
    await page.getByText('Signed, and carried out.').waitFor();
    await world.gate.coverByStanding(action_id);
    await world.gate.execute(action_id);
    await page.goto('/standing');
    await page.getByText('2 of 3').waitFor();
    await bob.page.goto('/standing');
    await bob.page.getByRole('button', { name: 'Revoke by signature …' }).click();
    await bob.page.getByText('act: revoke').first().waitFor();
    await bob.page.getByRole('button', { name: 'Not now' }).click();
    await page.getByRole('button', { name: 'Revoke your approval …' }).click();
    await page.getByText('at once, without a signature').waitFor();
    assert.equal((await world.gate.grants())[0]?.state, 'active', 'one click is not enough');
    await page.getByRole('button', { name: 'Revoke it now' }).click();
    await page.getByText('revoked', { exact: true }).waitFor();
    const [grant] = await world.gate.grants();
    assert.deepEqual([grant?.state, grant?.grant.count, grant?.grant.target], ['revoked', 3, 'customers/acme']);
  });

  it('freezes at once and lifts by a signature, with a banner for everybody; a request that was asked of somebody waits there', async () => {
    verifies('console.acts');
    const { page } = alice;
    await page.getByRole('link', { name: 'Freeze' }).click();
    await page.getByRole('button', { name: 'Freeze', exact: true }).click();
    await page.getByText('Frozen: everything').waitFor();
    assert.equal((await world.gate.frozen()).length, 1);
    await bob.page.goto('/policy');
    await bob.page.getByText('Frozen: everything').waitFor();
    await page.getByRole('button', { name: 'Lift it …' }).click();
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.goto('/');
    await page.getByRole('link', { name: 'a freeze' }).first().click();
    await signOn(page);
    assert.deepEqual(await world.gate.frozen(), []);
  });

  it('establishes an unknown outcome by a signed finding', async () => {
    verifies('console.acts');
    const { page } = alice;
    const { behave } = world.connector;
    world.connector.behave = async () => ({ result: 'unknown' });
    const action_id = await proposed(world, another());
    await openAction(alice, action_id);
    await readAll(page);
    await approveOn(page).click();
    await page.getByText('It ran, and its outcome is unknown').waitFor();
    verifies('console.check');
    await page.getByRole('button', { name: 'Check outcome' }).click();
    await page.getByText('the outcome stays unknown').waitFor();
    await page.getByLabel('What you found, and where').fill('the letter lies on the table');
    await page.getByRole('button', { name: 'It happened' }).click();
    await page.getByText('evidence: the letter lies on the table').waitFor();
    await readIn(page, page.getByRole('region', { name: 'What the outcome was' }));
    await page.getByRole('button', { name: 'Sign with your passkey' }).click();
    await page.getByText('Signed').first().waitFor();
    assert.equal((await world.gate.show(action_id)).state, 'confirmed');
    world.connector.behave = behave;
  });

  it('has the connector asked what became of an unknown outcome', async () => {
    verifies('console.check');
    const { page } = alice;
    const { behave } = world.connector;
    world.connector.behave = async (_call, effect) => {
      effect();
      return { result: 'unknown' };
    };
    const action_id = await proposed(world, another());
    await openAction(alice, action_id);
    await readAll(page);
    await approveOn(page).click();
    await page.getByText('It ran, and its outcome is unknown').waitFor();
    world.connector.behave = behave;
    await page.getByRole('button', { name: 'Check outcome' }).click();
    await page.getByText('confirmed').first().waitFor();
    assert.equal((await world.gate.show(action_id)).state, 'confirmed');
    assert.equal(world.connector.effectsOf(action_id), 1);
  });

  it('lets people and the agent talk about an action beside it', async () => {
    verifies('console.comments');
    const { page } = alice;
    const action_id = await proposed(world, another());
    await openAction(alice, action_id);
    await openAction(bob, action_id);
    await page.getByLabel('Your comment').fill('Who is this for?\n\u202eand why');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    const said = bob.page.getByRole('region', { name: 'Comments' }).getByRole('listitem');
    // It comes by itself.
    await said.filter({ hasText: 'Who is this for?' }).waitFor();
    assert.match((await said.textContent()) ?? '', /alice.*Who is this for\?.*202e.*and why/is);
    await world.gate.comment(action_id, 'For customers.');
    await said.filter({ hasText: 'agent:local, an agent' }).waitFor();
    await readAll(page);
    await approveOn(page).click();
    await page.getByText('It ran once, and is confirmed').waitFor();
  });

  it('leads from the inbox to a package whose summary waits, and confirms exactly its lines by a signature', async () => {
    verifies('console.packages');
    const { page } = alice;
    const { packages } = world.gate;
    const id = 'pkg_waits';
    await packageIn(world.gate, id, 'INTAKE');
    await step(world.gate, id, 'record_input', { content: 'what was said\n\u202eturned' });
    await step(world.gate, id, 'set_objective', { desired_outcomes: ['people know', 'nobody asks'] });
    await step(world.gate, id, 'prepare_summary');
    await page.goto('/');
    await page.locator(`a[href="/packages/${id}"]`).click();
    const list = page.getByRole('list', { name: 'The summary, line by line' });
    await list.waitFor();
    const { summary } = (await packages.status(id)).manifest;
    const lines = (await list.getByRole('listitem').allTextContents()).map((line) => `${line}\n`);
    assert.equal(lines.join(''), summary?.content, 'exactly the bytes that are confirmed');
    await page.getByText('What it says').click();
    await page.getByText('\\u{202e}turned').waitFor();
    await page.getByRole('button', { name: 'Confirm the summary …' }).click();
    const sheet = page.getByRole('region', { name: 'What you confirm' });
    const sign = sheet.getByRole('button', { name: 'Sign with your passkey' });
    await sign.waitFor();
    assert.ok(await sign.isDisabled(), 'all of it has to be in view before');
    await readIn(page, sheet);
    const signedLines = await sheet.getByRole('listitem').allTextContents();
    for (const [at, line] of (summary?.content ?? '').trimEnd().split('\n').entries()) {
      assert.ok(signedLines.includes(`summary ${at + 1}: ${line}`), line);
    }
    await sign.click();
    await page.getByText('Signed. The summary is confirmed, at revision 4.').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText(/^Confirmed by alice/).waitFor();
    await page.getByText('summary confirmed by a signature').waitFor();
    const { manifest } = await packages.status(id);
    assert.deepEqual([manifest.state, manifest.summary?.confirmation.operator_id], ['AUTHORING_AUTHORIZED', 'alice']);
    await step(world.gate, id, 'record_draft_artifact');
    await page.reload();
    await page.getByText('docs/notes.md').first().waitFor();
    const [{ sha256 = '' } = {}] = (await packages.status(id)).manifest.artifacts;
    const release = await proposed(world, { work_item: id, target: 'web', args: { text: sha256, account: 'web' } });
    await page.getByRole('region', { name: 'Releases' }).locator(`a[href="/actions/${release}"]`).waitFor();
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('says of a confirmation that came too late that the package changed', async () => {
    verifies('console.packages');
    const { page } = alice;
    const id = 'pkg_late';
    await packageIn(world.gate, id, 'SUMMARY_PENDING');
    await page.goto(`/packages/${id}`);
    await page.getByRole('button', { name: 'Confirm the summary …' }).click();
    const sheet = page.getByRole('region', { name: 'What you confirm' });
    await readIn(page, sheet);
    await step(world.gate, id, 'revise_intake');
    await sheet.getByRole('button', { name: 'Sign with your passkey' }).click();
    await page.getByText('Code: STALE_ACTION').waitFor();
    assert.equal((await world.gate.packages.status(id)).manifest.state, 'INTAKE');
  });

  it('lists packages by pages and by state', async () => {
    verifies('console.packages');
    const { page } = alice;
    for (let at = 0; at < 51; at += 1) await world.gate.packages.create(`pkg_many_${at}`, `intent ${at}`);
    await step(world.gate, 'pkg_many_7', 'cancel');
    await page.goto('/');
    await page.getByRole('link', { name: 'Packages' }).click();
    const rows = page.getByRole('main').getByRole('listitem');
    await page.getByRole('button', { name: 'Show more' }).waitFor();
    assert.equal(await rows.count(), 50);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('pkg_late', { exact: true }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Show more' }).count(), 0);
    await page.getByLabel('State').selectOption('CANCELLED');
    await page.getByText('intent 7', { exact: true }).waitFor();
    assert.equal(await rows.count(), 1);
  });

  it('shows every route of the API', async () => {
    verifies('console.api');
    const { page } = alice;
    await page.goto('/people');
    await page.getByRole('link', { name: 'The HTTP API' }).click();
    await page.getByRole('heading', { name: 'POST /v1/actions', exact: true }).waitFor();
    assert.ok((await page.getByRole('heading', { level: 2 }).count()) >= 40);
    await page.getByLabel('Find a route').fill('comment');
    await page.getByRole('heading', { name: 'GET /v1/actions/{action_id}/comments' }).waitFor();
    assert.equal(await page.getByRole('heading', { level: 2 }).count(), 2);
  });

  it('says what policy would decide for an agent, and writes nothing', async () => {
    verifies('console.explain');
    const { page } = alice;
    const { sequence } = await world.gate.ledger.head();
    await page.goto('/policy');
    const fields = { Agent: 'agent:local', Project: 'acme', Connector: 'counting', Operation: 'send', Target: 'vault' };
    for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(text);
    await page.getByLabel('Arguments').fill('{');
    assert.ok(await page.getByRole('button', { name: 'Explain' }).isDisabled());
    await page.getByLabel('Arguments').fill('{"text":"hello","account":"vault"}');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('denied by policy').waitFor();
    await page.getByLabel('Target', { exact: true }).fill('customers');
    await page.getByLabel('Arguments').fill('{"text":"hello","account":"customers"}');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('policy asks a person').waitFor();
    await page.getByText('human:alice, human:bob').first().waitFor();
    assert.equal((await world.gate.ledger.head()).sequence, sequence);
  });

  it('has the whole ledger verified, and finds what happened to whatever has an id', async () => {
    verifies('console.audit');
    const { page } = alice;
    const action_id = await proposed(world, another());
    await page.goto('/audit');
    await page.getByRole('button', { name: 'Verify now' }).click();
    await page.getByText('Everything verifies.').waitFor();
    const { logHash } = await world.gate.ledger.head();
    await page.getByText(logHash).first().waitFor();
    await page.getByLabel('Find by id').first().fill(action_id);
    await page.getByRole('button', { name: 'Find by id' }).click();
    await page.getByText('action-proposed').waitFor();
    assert.equal(await page.getByRole('main').getByRole('listitem').count(), 1);
    await page.getByRole('button', { name: 'Show the whole log' }).click();
    await page.getByText('ledger-created').waitFor();
  });

  it('revokes a token and a key by a signature, and nobody signs in by a key that was revoked', async () => {
    verifies('console.acts');
    const { page } = alice;
    const add = await addToken(world);
    await page.goto(`/requests/${add}`);
    await signOn(page);
    await page.goto('/people');
    await page.getByRole('button', { name: 'Revoke token by signature …' }).click();
    await signOn(page);
    assert.deepEqual(
      (await listTokens(world.gate.ledger)).map(({ state }) => state),
      ['revoked'],
    );
    const carol = await nextPerson(world, browser, alice, 'carol');
    await page.goto('/people');
    const card = page.getByRole('region', { name: 'carol' });
    await card.getByRole('button', { name: 'Revoke key by signature …' }).click();
    await signOn(page);
    // The page that was open says so by itself.
    await carol.page.getByRole('link', { name: 'Policy' }).click();
    await carol.page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await carol.page.getByText('Code: unauthenticated').waitFor();
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
    await carol.visitor.context.close();
  });

  it('revokes an own key at once without a signature, which signs its owner out; others have no such button', async () => {
    verifies('console.own');
    const dave = await nextPerson(world, browser, alice, 'dave');
    await alice.page.goto('/people');
    await alice.page.getByRole('region', { name: 'dave' }).getByText('Revoke key by signature …').waitFor();
    assert.equal(await alice.page.getByRole('button', { name: 'Revoke your key …' }).count(), 1);
    const { page } = dave;
    await page.goto('/people');
    await page.getByRole('button', { name: 'Revoke your key …' }).click();
    await page.getByText('at once, without a signature').waitFor();
    await page.getByRole('button', { name: 'Keep it' }).click();
    await page.getByRole('button', { name: 'Revoke your key …' }).click();
    await page.getByRole('button', { name: 'Revoke it now' }).click();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    const { keys } = await listPeople(world.gate.ledger);
    assert.deepEqual(
      keys.filter(({ person }) => person === 'human:dave').map(({ state }) => state),
      ['revoked'],
    );
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
    assert.deepEqual(dave.visitor.reported, []);
    await dave.visitor.context.close();
  });

  it('shows the first of what waits, and more when somebody asks for it', async () => {
    verifies('console.inbox');
    const { page } = alice;
    for (let at = 0; at < 101; at += 1) await proposed(world, another());
    const { rows: all } = await world.gate.inbox({ person: 'human:alice', limit: 1_000 });
    await page.goto('/');
    await page.getByRole('button', { name: 'Show more' }).click();
    const shown = page.getByRole('main').getByRole('listitem');
    await shown.nth(all.length - 1).waitFor();
    await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' });
    assert.equal(await shown.count(), all.length);
    // What happens on a page further down shows as well.
    await world.gate.cancel(all.filter(({ what }) => what === 'approval').at(-1)?.id ?? '');
    await shown.nth(all.length - 1).waitFor({ state: 'detached' });
  });
});

/** Reads, and signs. */
async function signOn(page: Page): Promise<void> {
  await readAll(page);
  await page.getByRole('button', { name: 'Sign with your passkey' }).click();
  await page.getByText('Signed, and carried out.').waitFor();
}

/** A token that waits for a signature; answers the request. */
async function addToken(world: ConsoleWorld): Promise<string> {
  const { id: token_id, hash } = newToken(world);
  const expires = world.clock.now() + 3_600_000;
  const change = { change: 'add-token', token_id, agent: 'agent:bot', hash, scope: WHOLE, expires } as const;
  return (await world.gate.requestAct({ kind: 'agent', change })).request.request_id;
}

/** Reads what is signed inside a part of the page, where more than one stands there. */
async function readIn(page: Page, part: ReturnType<Page['getByRole']>): Promise<void> {
  for (const piece of await part.locator('[data-piece]').all()) {
    await piece.scrollIntoViewIfNeeded();
    await page.mouse.wheel(0, 60);
    await page.waitForTimeout(20);
  }
  await part.getByText('You have seen all of it.').waitFor();
}
