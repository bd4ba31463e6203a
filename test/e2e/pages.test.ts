/**
 * Every page of the console with text in it that an agent chose to do harm: nothing runs, nothing hides, nothing moves; and
 * every page in both themes is one that everybody can use. `COUNTERSIGN_SCREENSHOTS=1` keeps a picture of each.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { CENTER, launchChromium, Visitor } from '../support/browser.js';
import { type ConsoleWorld, consoleWorld, firstPerson, nextPerson, type Person } from '../support/console-world.js';
import { step } from '../support/gate-packages.js';
import { sending } from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

/** Harm in one line, without characters that hide: a target and a work item take no others. */
const PLAIN = [
  `<img src=x onerror="alert(1)"><script>alert(2)</script>`,
  `"><svg/onload=alert(3)> javascript:alert(4) {{7*7}} \${7*7}`,
  `</li></ol><style>*{display:none}</style><iframe srcdoc="<script>alert(5)</script>">`,
  `&lt;b&gt; &#60;script&#62; %3Cscript%3E \\u003cscript\\u003e`,
  `approvals needed: 0, risk: read, שלום 123 عالم`,
  'w'.repeat(200),
];
/** Characters that turn, join, hide and break. */
const HIDDEN =
  '\u202egpj.exe\u202c \u2066a\u2069 \u200bx\u200f \ufeff\u00ad\u2028line\u2029 \u0000\u001b[31mred\u0007 e\u0301';
const BAD = /[\u202a-\u202e\u2066-\u2069\u200b-\u200f\ufeff\u00ad\u2028\u2029\u0000\u001b\u0007]/;

const DIFF = `diff --git a/pay.ts b/pay.ts
--- a/pay.ts
+++ b/pay.ts
@@ -1,3 +1,3 @@ ${PLAIN[0]}
 context ${HIDDEN}
-const limit = 100;
+const limit = 100_000; ${PLAIN[1]}
`;

interface Places {
  readonly [name: string]: string;
}

/** Actions in each state, with harm in every field that an agent or what it reaches can choose. */
async function harmIn(world: ConsoleWorld): Promise<Places> {
  const { gate, connector } = world;
  const operation = connector.operation.bind(connector);
  connector.operation = async (name) => {
    const known = await operation(name);
    return known === undefined || name !== 'send'
      ? known
      : { ...known, preview: async () => ({ mediaType: 'text/x-diff' as const, text: DIFF }) };
  };
  const all = { text: HIDDEN, data: Object.fromEntries([...PLAIN, HIDDEN].map((text) => [text, text])) };
  const propose = async (target: string, operationName = 'send') => {
    const account = target;
    const asked = sending({ target, operation: operationName, args: { ...all, account }, work_item: target });
    return (await gate.propose(asked)).action_id;
  };
  const waiting: string[] = [];
  for (const target of PLAIN) waiting.push(await propose(target));
  connector.behave = async (_call, effect) => ({
    ...effect(),
    externalRef: PLAIN[0] as string,
    evidence: { a: HIDDEN },
  });
  const allowed = sending({
    operation: 'note',
    target: 'b',
    args: { ...all, account: 'b' },
    work_item: PLAIN[1] as string,
  });
  const { proposed: ran } = await gate.proposeAndLaunch(allowed);
  connector.behave = async () => ({ result: 'unknown', code: PLAIN[1] as string, evidence: { a: PLAIN[2] as string } });
  const lost = sending({ operation: 'note', target: 'c', args: { ...all, account: 'c' } });
  const { proposed: unknown } = await gate.proposeAndLaunch(lost);
  const taken = await propose('taken');
  await gate.cancel(taken, `${PLAIN[0]} ${HIDDEN}`);
  const until = world.clock.now() + 3_600_000;
  const grant = await gate.narrowestGrant(await propose('customers/a'), { count: 3, until });
  const { issued } = await gate.requestStanding(grant, 'human:alice');
  return {
    inbox: '/',
    ...Object.fromEntries(waiting.map((id, at) => [`action-waiting-${at}`, `/actions/${id}`])),
    'action-ran': `/actions/${ran.action_id}`,
    'action-unknown': `/actions/${unknown.action_id}`,
    'action-taken-back': `/actions/${taken}`,
    request: `/requests/${issued.request.request_id}`,
    standing: '/standing',
    people: '/people',
    packages: '/packages',
    ...(await packagesIn(world)),
    policy: '/policy',
    threads: '/threads',
    thread: '/threads/acme',
    audit: '/audit',
    freeze: '/freeze',
    api: '/api',
  };
}

/** Packages in each state, with harm in every field of an envelope that takes it. */
async function packagesIn({ gate }: ConsoleWorld): Promise<Places> {
  const [image = '', svg = '', list = '', entities = '', turned = ''] = PLAIN;
  for (const [id, intent] of [
    ['pkg_intake', image],
    ['pkg_pending', turned],
    ['pkg_ready', list],
    ['pkg_cancelled', 'w'.repeat(400)],
  ] as const) {
    await gate.packages.create(id, intent);
    const content = [...PLAIN, HIDDEN].join('\n');
    await step(gate, id, 'record_input', { content });
    const excluded = { input_id: 'in-2', disposition: 'excluded', exclusion_reason: svg };
    await step(gate, id, 'record_input', { ...excluded, content: 'w'.repeat(30_000) });
    if (id === 'pkg_intake') continue;
    await step(gate, id, 'set_objective', { statement: entities, desired_outcomes: PLAIN });
    await step(gate, id, 'prepare_summary');
  }
  await step(gate, 'pkg_cancelled', 'cancel', { reason: `${image} ${svg}` });
  return Object.fromEntries(
    ['intake', 'pending', 'ready', 'cancelled'].map((state) => [`package-${state}`, `/packages/pkg_${state}`]),
  );
}

/** Signs what a part of the page shows, once all of it was in view. */
async function signPart(page: Page, part: string, told: string): Promise<void> {
  const sheet = page.getByRole('region', { name: part });
  await sheet.waitFor();
  for (const piece of await sheet.locator('[data-piece]').all()) await piece.evaluate(CENTER);
  await sheet.getByRole('button', { name: 'Sign with your passkey' }).click();
  await page.getByText(told).waitFor();
}

/** A standing approval that stands. */
async function grantOn(page: Page, { gate, clock }: ConsoleWorld): Promise<void> {
  const target = PLAIN[0] as string;
  const asked = await gate.propose(sending({ target, args: { account: target } }));
  const grant = await gate.narrowestGrant(asked.action_id, { count: 3, until: clock.now() + 3_600_000 });
  const { issued } = await gate.requestStanding(grant, 'human:alice');
  await page.goto(`/requests/${issued.request.request_id}`);
  await signPart(page, 'What you sign', 'Signed, and carried out.');
}

/** Confirms a summary as people do, and has a draft and its release behind it. */
async function draftOn(page: Page, { gate }: ConsoleWorld): Promise<void> {
  await page.goto('/packages/pkg_ready');
  await page.getByRole('button', { name: 'Confirm the summary …' }).click();
  await signPart(page, 'What you confirm', 'Signed. The summary is confirmed');
  const harm = { kind: PLAIN[0], logical_path: 'docs/<img src=x onerror=alert(1)>.md', content: HIDDEN };
  await step(gate, 'pkg_ready', 'record_draft_artifact', harm);
  const [{ sha256 = '' } = {}] = (await gate.packages.status('pkg_ready')).manifest.artifacts;
  const args = { text: sha256, account: PLAIN[1] as string };
  await gate.propose(sending({ work_item: 'pkg_ready', target: PLAIN[1] as string, args }));
}

/** What a page shows after some clicks. */
const VIEWS: readonly (readonly [string, string, (page: Page) => Promise<void>])[] = [
  ['inbox-picking', '/', (page) => page.getByRole('button', { name: 'Pick several …' }).click()],
  [
    'together',
    '/',
    async (page) => {
      await page.getByRole('button', { name: 'Pick several …' }).click();
      for (const box of (await page.getByRole('checkbox').all()).slice(0, 2)) await box.check();
      await page.getByRole('button', { name: 'Look at 2 together' }).click();
      await page.getByRole('heading', { name: 'Approve 2 together' }).waitFor();
    },
  ],
  [
    'sign-revoke',
    '/people',
    async (page) => {
      await page.getByRole('button', { name: 'Revoke key by signature …' }).first().click();
      await page.getByRole('heading', { name: 'Sign', exact: true }).waitFor();
    },
  ],
  [
    'take-back',
    '/people',
    async (page) => {
      await page.getByRole('button', { name: 'Revoke your key …' }).click();
      await page.getByText('at once, without a signature').waitFor();
    },
  ],
  [
    'package-confirm',
    '/packages/pkg_pending',
    async (page) => {
      await page.getByRole('button', { name: 'Confirm the summary …' }).click();
      await page.getByRole('heading', { name: 'Sign', exact: true }).waitFor();
    },
  ],
  [
    'package-content',
    '/packages/pkg_ready',
    async (page) => {
      for (const summary of await page.getByText('What it says').all()) await summary.click();
      await page.getByText('Show more: 20000 of 30000').waitFor();
    },
  ],
  [
    'invited',
    '/people',
    async (page) => {
      await page.getByLabel('Name', { exact: true }).fill('carol');
      await page.getByRole('button', { name: 'Make a link' }).click();
      await page.locator('[data-link]').waitFor();
    },
  ],
];

const FOLDER = '.screenshots';
const keepsPictures = process.env['COUNTERSIGN_SCREENSHOTS'] !== undefined;

async function settle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.getByText('Loading …').first().waitFor({ state: 'detached' });
}

async function picture(page: Page, name: string, scheme: string): Promise<void> {
  if (!keepsPictures) return;
  for (const width of [390, 1_280]) {
    await page.setViewportSize({ width, height: 844 });
    await page.screenshot({ path: `${FOLDER}/${name}-${scheme}-${width}.png`, fullPage: true });
  }
  await page.setViewportSize({ width: 390, height: 844 });
}

describe('every page of the console', () => {
  let browser: Browser;
  let world: ConsoleWorld;
  let alice: Person;
  let places: Places;
  before(async () => {
    mkdirSync(FOLDER, { recursive: true });
    browser = await launchChromium();
    world = await consoleWorld();
    alice = await firstPerson(world, browser);
    await (await nextPerson(world, browser, alice, 'bob')).visitor.context.close();
    places = await harmIn(world);
    await grantOn(alice.page, world);
    await draftOn(alice.page, world);
  });
  after(async () => {
    await browser.close();
    await world.close();
  });

  it('shows what an agent chose as text that runs nothing, hides nothing and moves nothing', async () => {
    verifies('console.hostile-text');
    verifies('console.csp');
    const { page, visitor } = alice;
    for (const [name, path] of Object.entries(places)) {
      await page.goto(path);
      await settle(page);
      for (const summary of await page.locator('summary').all()) await summary.click();
      const text = ((await page.locator('body').textContent()) ?? '').normalize('NFD');
      assert.ok(!BAD.test(text), `${name} holds a hidden character`);
      const found = await page.evaluate<Record<string, number>>(`({
        scripts: document.scripts.length,
        made: document.querySelectorAll('img, iframe, style, object, embed, form[action], [onerror], [onload]').length,
        wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        links: [...document.links].filter((link) => new URL(link.href).origin !== location.origin).length,
      })`);
      assert.deepEqual(found, { scripts: 1, made: 0, wide: 0, links: 0 }, name);
    }
    await page.goto(places['action-waiting-0'] as string);
    await settle(page);
    const shown = (await page.locator('body').textContent()) ?? '';
    assert.ok(shown.includes(PLAIN[0] as string), 'it is shown as it is');
    assert.ok(shown.includes('\\u{202e}gpj.exe'), 'what turns the line is written out');
    assert.ok(shown.includes('read its numbers with care'), 'what is written from right to left is marked');
    assert.deepEqual(visitor.reported, []);
  });

  it('has no violation of WCAG 2.2 AA in either theme', async () => {
    verifies('console.accessible');
    const { page } = alice;
    const door = await (await Visitor.arrive(browser, world.origin)).tab();
    for (const scheme of ['light', 'dark'] as const) {
      // Those that wait differ in their text alone.
      for (const [name, path] of Object.entries(places).filter(([one]) => !/waiting-[1-9]/.test(one))) {
        await page.emulateMedia({ colorScheme: scheme });
        await page.goto(path);
        await settle(page);
        await demandAccessible(page, `${name}, ${scheme}`);
        await picture(page, name, scheme);
      }
      for (const [name, path, open] of VIEWS) {
        await page.goto(path);
        await settle(page);
        await open(page);
        await demandAccessible(page, `${name}, ${scheme}`);
        await picture(page, name, scheme);
      }
      for (const [name, path] of Object.entries({ door: '/', enrol: '/enrol' })) {
        await door.page.emulateMedia({ colorScheme: scheme });
        await door.page.goto(path);
        await settle(door.page);
        await demandAccessible(door.page, `${name}, ${scheme}`);
        await picture(door.page, name, scheme);
      }
    }
  });

  it('works by keyboard: read, approve, and see what became of it', async () => {
    verifies('console.accessible');
    const { page } = alice;
    world.connector.behave = async (_call, effect) => effect();
    const { action_id } = await world.gate.propose(sending({ args: { text: 'by keyboard' } }));
    await page.goto('/');
    const link = page.locator(`a[href="/actions/${action_id}"]`);
    await link.waitFor();
    await link.focus();
    await page.keyboard.press('Enter');
    const read = page.getByText('You have seen all of it.');
    for (let at = 0; at < 60 && (await read.count()) === 0; at += 1) {
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      await page.waitForTimeout(60);
    }
    await read.waitFor();
    const focused = page.locator(':focus');
    for (let at = 0; at < 60; at += 1) {
      await page.keyboard.press('Tab');
      if ((await focused.textContent()) === 'Approve with your passkey') break;
    }
    await page.keyboard.press('Enter');
    await page.getByText('It ran once, and is confirmed').waitFor();
    assert.equal(world.connector.effectsOf(action_id), 1);
  });
});

async function demandAccessible(page: Page, where: string): Promise<void> {
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const { violations } = await new AxeBuilder({ page }).withTags(tags).analyze();
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('\n  ')}`);
  assert.deepEqual(told, [], where);
}
