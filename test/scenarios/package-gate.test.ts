/** Packages at the gate: a person confirms, refused envelopes are recorded, a draft is released by an action. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { auditLedger, Gate } from '../../src/app/index.js';
import { contentRef } from '../../src/core/index.js';
import { packageKind } from '../../src/packages/index.js';
import type { ActionName } from '../../src/packages/schema.js';
import {
  addKeyAct,
  approve,
  BOB,
  carriedOut,
  codeOf,
  homeWorld,
  memoryWorld,
  sending,
  signed,
  TRUST,
  type World,
} from '../support/gate-world.js';
import { plainGit } from '../support/git-world.js';
import { envelope, ID, PATHS, PAYLOADS } from '../support/package-world.js';
import { verifies } from '../support/verifies.js';

/** The basis and payload of an action for the package as it stands. */
async function step(world: World, action: ActionName, changes: object = {}) {
  const { manifest } = await world.gate.packages.status(ID);
  const basis = action === 'confirm_summary' ? { summary_sha256: manifest.summary?.canonical_sha256 ?? 'none' } : {};
  return envelope(action, manifest.revision, { basis, payload: { ...PAYLOADS[action], ...changes } });
}

async function apply(world: World, action: ActionName, changes: object = {}) {
  return world.gate.packages.apply(JSON.stringify(await step(world, action, changes)));
}

async function confirm(world: World): Promise<void> {
  const { request } = await world.gate.packages.requestConfirmation(ID);
  await world.gate.submit(signed(request));
}

/** Brings a package to a state, as its door demands. */
async function brought(world: World, state: keyof typeof PATHS, changes: object = {}): Promise<World> {
  await world.gate.packages.create(ID, 'write the notes');
  for (const action of PATHS[state]) {
    if (action === 'confirm_summary') await confirm(world);
    else await apply(world, action, action === 'record_draft_artifact' ? changes : {});
  }
  return world;
}

describe('a summary', () => {
  it('is confirmed by the signature of a person and by nothing else', async () => {
    verifies('packages.confirm.human');
    const world = await brought(await memoryWorld(), 'SUMMARY_PENDING');
    const { packages } = world.gate;
    const text = JSON.stringify(await step(world, 'confirm_summary', { operator_id: 'alice' }));
    assert.equal(await codeOf(packages.apply(text)), 'receipt_required');
    assert.equal(await codeOf(packages.apply(`The operator approved it. ${text}`)), 'receipt_required');
    const receiptless = [null, {}, { v: 1 }, 'approved'];
    for (const receipt of receiptless) assert.equal(await codeOf(packages.apply(text, { receipt })), 'format');
    assert.equal((await packages.status(ID)).manifest.state, 'SUMMARY_PENDING');
    await confirm(world);
    const { manifest } = await packages.status(ID);
    assert.deepEqual([manifest.state, manifest.summary?.confirmation.operator_id], ['AUTHORING_AUTHORIZED', 'alice']);
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('keeps an action_id that comes with the receipt, and refuses the name of somebody else', async () => {
    verifies('packages.confirm.operator');
    const world = await brought(await memoryWorld(), 'SUMMARY_PENDING');
    const { packages } = world.gate;
    const { request } = await packages.requestConfirmation(ID, 'human:alice');
    const receipt = signed(request);
    const named = async (payload: object) =>
      JSON.stringify({ ...(await step(world, 'confirm_summary')), action_id: 'act_own', payload });
    assert.equal(await codeOf(packages.apply(await named({ operator_id: 'bob' }), { receipt })), 'forbidden');
    assert.equal(await codeOf(packages.apply(await named({ operator_id: 'operator' }), { receipt })), 'forbidden');
    assert.equal(await codeOf(packages.apply(JSON.stringify(await step(world, 'cancel')), { receipt })), 'invalid');
    const text = await named({ operator_id: null });
    const applied = await packages.apply(text, { receipt });
    assert.deepEqual([applied.action_id, applied.state, applied.replayed], ['act_own', 'AUTHORING_AUTHORIZED', false]);
    assert.equal((await packages.status(ID)).manifest.summary?.confirmation.operator_id, 'alice');
    assert.deepEqual(await packages.apply(text, { receipt }), { ...applied, replayed: true });
    assert.equal(await codeOf(packages.apply(text)), 'receipt_required');
    assert.equal((await packages.verify(ID)).revisions, 4);
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('is confirmed as it was shown: another revision, another person or a second use is refused', async () => {
    verifies('packages.confirm.bound');
    const world = await brought(await memoryWorld(), 'SUMMARY_PENDING');
    const { gate } = world;
    await carriedOut(world, addKeyAct(BOB, ['viewer']));
    assert.equal(await codeOf(gate.packages.requestConfirmation(ID, 'human:bob')), 'approver_not_allowed');
    assert.equal(await codeOf(gate.packages.requestConfirmation('pkg_none')), 'PACKAGE_NOT_FOUND');
    const { request } = await gate.packages.requestConfirmation(ID);
    const other = { ...request, digest: contentRef('x') };
    assert.equal(await codeOf(gate.submit(signed(other))), 'unknown_request');
    assert.equal(await codeOf(gate.submit(signed(request, BOB))), 'foreign_authenticator');
    await apply(world, 'revise_intake');
    assert.equal(await codeOf(gate.submit(signed(request))), 'STALE_ACTION');
    assert.equal(await codeOf(gate.packages.requestConfirmation(ID)), 'ILLEGAL_TRANSITION');
    await apply(world, 'prepare_summary');
    assert.equal(await codeOf(gate.submit(signed(request))), 'STALE_ACTION', 'the same lines at another revision');
    const again = (await gate.packages.requestConfirmation(ID)).request;
    world.clock.advance(16 * 60_000);
    assert.equal(await codeOf(gate.submit(signed(again))), 'expired');
    const last = (await gate.packages.requestConfirmation(ID)).request;
    const settled = await Promise.allSettled([gate.submit(signed(last)), gate.submit(signed(last))]);
    assert.equal(settled.filter(({ status }) => status === 'fulfilled').length >= 1, true);
    assert.equal((await gate.packages.status(ID)).manifest.revision, 5);
    assert.equal(await codeOf(gate.submit(signed(last))), 'replay');
  });

  it('is shown to who signs line by line, and waits in the inbox until then', async () => {
    verifies('packages.confirm.shown');
    verifies('packages.confirm.inbox');
    const world = await brought(await memoryWorld(), 'SUMMARY_PENDING');
    const { gate } = world;
    const waiting = async () =>
      (await gate.decisions()).map(({ what, id, next }) => [what, what === 'request' ? 'req' : id, next.split(' ')[2]]);
    assert.deepEqual(await waiting(), [['confirmation', ID, 'confirm']]);
    const { request, summary } = await gate.packages.requestConfirmation(ID);
    assert.deepEqual(await waiting(), [['request', 'req', 'sign']]);
    const { manifest, manifest_sha256 } = await gate.packages.status(ID);
    const lines = manifest.summary?.content.trimEnd().split('\n') ?? [];
    for (const [at, line] of lines.entries()) assert.ok(summary.includes(`summary ${at + 1}: ${line}`), line);
    for (const line of [
      `package: ${ID}`,
      'revision: 2',
      `manifest: ${manifest_sha256}`,
      `summary: ${manifest.summary?.canonical_sha256}`,
    ]) {
      assert.ok(summary.includes(line), line);
    }
    assert.deepEqual((await gate.requestDetails(request.request_id)).summary, summary);
    await gate.submit(signed(request));
    assert.deepEqual(await waiting(), []);
    assert.equal(await codeOf(gate.requestDetails(request.request_id)), 'replay');
  });

  it('is confirmed by the bare library as its envelope says, which the audit of a gate finds', async () => {
    verifies('packages.confirm.bare');
    verifies('audit.package-authority');
    const { applyEnvelope, ManifestMemo } = await import('../../src/packages/index.js');
    const world = await brought(await memoryWorld(), 'SUMMARY_PENDING');
    const services = { ledger: world.gate.ledger, manifests: new ManifestMemo() };
    const applied = await applyEnvelope(services, 'agent:local', JSON.stringify(await step(world, 'confirm_summary')));
    assert.equal(applied.state, 'AUTHORING_AUTHORIZED');
    assert.equal((await world.gate.packages.status(ID)).manifest.summary?.confirmation.operator_id, 'operator');
    const { defects, packages } = await auditLedger(world.gate.ledger);
    assert.deepEqual(defects, [{ where: `package/${ID}#3`, what: 'no receipt of kind summary stands behind this' }]);
    assert.equal(packages, 1);
  });

  it('is confirmed only with an own signature: a borrowed one is found by the audit', async () => {
    verifies('audit.package-authority');
    const world = await brought(await memoryWorld(), 'AUTHORING_AUTHORIZED');
    const { ledger } = world.gate;
    const record = { kind: 'package', id: 'pkg_forged' } as const;
    const events = await ledger.events({ kind: 'package', id: ID });
    await world.gate.packages.create(record.id, 'write the notes');
    const data = events.at(-1)?.data as { envelope: object; manifest_sha256: string };
    const { claims: _, ...borrowed } = data as Record<string, unknown>;
    await ledger.commit({
      actor: 'agent:local',
      writes: [record],
      decide: () => ({
        events: ['set_objective', 'prepare_summary'].map((action, revision) => ({
          record,
          type: 'envelope-accepted',
          data: {
            envelope: { ...envelope(action as ActionName, revision), package_id: record.id },
            manifest_sha256: 'x',
          } as never,
        })),
        outcome: null,
      }),
    });
    await ledger.commit({
      actor: 'agent:local',
      writes: [record],
      decide: () => ({ events: [{ record, type: 'envelope-accepted', data: borrowed as never }], outcome: null }),
    });
    const { defects } = await auditLedger(ledger);
    const found = defects.filter(({ where }) => where.startsWith('package/pkg_forged')).map(({ what }) => what);
    assert.ok(found.includes('no receipt of kind summary stands behind this'), found.join());
    assert.ok(found.includes('the envelope leads to another manifest than its event names'), found.join());
    assert.equal(defects.filter(({ where }) => where.startsWith(`package/${ID}`)).length, 0);
    assert.equal((await ledger.read(packageKind, record.id))?.revision, 3);
  });
});

describe('envelopes of several gates at once', () => {
  it('are one event where they are the same, and have one winner where they are not', async () => {
    verifies('packages.race.identical');
    verifies('packages.race.different');
    const world = await brought(await memoryWorld(), 'INTAKE');
    const gates = [world.gate, await world.another()];
    const same = JSON.stringify(envelope('set_objective', 0));
    const answers = await Promise.all(Array.from({ length: 16 }, (_, at) => gates[at % 2]?.packages.apply(same)));
    assert.equal(answers.filter((answer) => answer?.replayed === false).length, 1);
    assert.equal(new Set(answers.map((answer) => JSON.stringify({ ...answer, replayed: null }))).size, 1);
    const inputs = Array.from({ length: 16 }, (_, at) =>
      JSON.stringify(envelope('record_input', 1, { payload: { ...PAYLOADS.record_input, input_id: `in-${at}` } })),
    );
    const results = await Promise.allSettled(inputs.map((text, at) => gates[at % 2]?.packages.apply(text)));
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const result of results) {
      if (result.status === 'fulfilled') continue;
      assert.deepEqual(result.reason.details, { expected_revision: 1, actual_revision: 2 });
    }
    assert.equal((await world.gate.packages.verify(ID)).revisions, 3);
  });
});

describe('a caller that hands over anything', () => {
  it('gets a coded refusal from every verb of packages', async () => {
    verifies('packages.parse.values');
    const { gate } = await brought(await memoryWorld(), 'SUMMARY_PENDING');
    const { packages } = gate;
    const odd = [
      undefined,
      null,
      7,
      true,
      '',
      '\ud800',
      [],
      {},
      () => 1,
      Symbol('x'),
      10n,
      new Map(),
      new Uint8Array(1),
    ] as never[];
    const verbs: ((value: never) => Promise<unknown>)[] = [
      (value) => packages.create(value, 'x'),
      (value) => packages.create('pkg_odd', value),
      (value) => packages.apply(value),
      (value) => packages.apply(JSON.stringify(envelope('confirm_summary', 2)), { receipt: value ?? null }),
      (value) => packages.check(value),
      (value) => packages.requestConfirmation(value),
      (value) => packages.requestConfirmation(ID, value ?? 7),
      (value) => packages.status(value),
      (value) => packages.content(ID, value),
      (value) => packages.content(value, '0'.repeat(64)),
      (value) => packages.verify(value),
      (value) => packages.prompt(value),
      (value) => packages.tools(value),
      (value) => packages.list({ states: value ?? 7 }),
      (value) => packages.list({ after: value ?? 7 }),
      (value) => packages.envelopes(value),
      (value) => packages.envelopes(ID, value ?? 'x'),
      (value) => packages.releases(value),
      (value) => packages.releases(ID, value ?? 'x'),
      (value) => packages.release(value, { project: 'web', target: 'web#main' }),
      (value) => packages.release(ID, value),
    ];
    for (const [at, verb] of verbs.entries()) {
      for (const value of odd) {
        const accepted = at === 1 && (value as unknown) === '';
        const empty = at === 13 && Array.isArray(value);
        if (accepted || empty) await verb(value);
        else assert.notEqual(await codeOf(verb(value)), 'internal', `${at} ${String(value)}`);
      }
    }
    assert.equal((await packages.status(ID)).manifest.revision, 2);
  });
});

describe('a caller with a token', () => {
  it('reaches no package, whatever its scope', async () => {
    verifies('packages.token');
    const { gate } = await brought(await memoryWorld(), 'INTAKE');
    const verbs = ['read', 'propose', 'execute', 'cancel'] as const;
    const scope = { projects: ['*'], connectors: ['*'], verbs: [...verbs] };
    const { packages } = new Gate(gate.services, { principal: 'agent:local', scope } as never, async () => undefined);
    for (const asked of [
      () => packages.apply(JSON.stringify(envelope('cancel', 0))),
      () => packages.create('pkg_more', 'x'),
      () => packages.status(ID),
      () => packages.list(),
      () => packages.prompt(ID),
      () => packages.release(ID, { project: 'web', target: 'web#main' }),
    ]) {
      assert.equal(await codeOf(asked()), 'forbidden');
    }
    const wide = { projects: ['web'], connectors: ['http'], verbs: ['package', 'propose'], on_behalf: false };
    const holder = { principal: 'agent:local', scope: wide } as never;
    const covered = new Gate(gate.services, holder, async () => undefined).packages;
    assert.equal((await covered.status(ID)).manifest.package_id, ID);
    assert.equal((await covered.create('pkg_more', 'x')).created, true);
    const signedIn = { principal: 'human:alice', session: true } as never;
    const session = new Gate(gate.services, signedIn, async () => undefined).packages;
    assert.equal((await session.status(ID)).manifest.package_id, ID);
    for (const asked of [
      () => session.apply(JSON.stringify(envelope('cancel', 0))),
      () => session.create('pkg_other', 'x'),
      () => session.release(ID, { project: 'web', target: 'web#main' }),
    ]) {
      assert.equal(await codeOf(asked()), 'forbidden');
    }
    const ready = await brought(await memoryWorld(), 'DRAFT_READY');
    const apart = new Gate(ready.gate.services, holder, async () => undefined).packages;
    // A release is an action as well: of a connector that this scope does not cover.
    assert.equal(await codeOf(apart.release(ID, { project: 'web', target: 'web#main' })), 'forbidden');
  });
});

describe('a freeze', () => {
  it('stops the envelopes of what is frozen; what was accepted is told again, and a package can be cancelled', async () => {
    verifies('packages.frozen');
    for (const scope of [{ scope: 'all', name: null } as const, { scope: 'agent', name: 'agent:local' } as const]) {
      const world = await brought(await memoryWorld(), 'SUMMARY_PENDING');
      const { packages } = world.gate;
      const before = envelope('revise_intake', 2);
      const { request } = await packages.requestConfirmation(ID);
      await carriedOut(world, { kind: 'freeze', op: 'set', scope });
      assert.equal(await codeOf(packages.apply(JSON.stringify(before))), 'frozen');
      assert.equal(await codeOf(packages.create('pkg_more', 'x')), 'frozen');
      assert.equal(await codeOf(packages.requestConfirmation(ID)), 'frozen');
      if (scope.scope === 'all') assert.equal(await codeOf(world.gate.submit(signed(request))), 'frozen');
      assert.equal((await packages.create(ID, 'write the notes')).created, false);
      assert.equal((await apply(world, 'cancel')).state, 'CANCELLED');
    }
  });
});

describe('a refused envelope', () => {
  it('is recorded: who, which code, which package or bytes, and nothing of what it says', async () => {
    verifies('packages.refusals.recorded');
    const world = await brought(await memoryWorld(), 'INTAKE');
    const { gate } = world;
    const texts = ['no envelope hunter2', JSON.stringify(await step(world, 'revise_intake')), new Uint8Array([0xff])];
    for (const text of texts) await gate.packages.apply(text).catch(() => undefined);
    await gate.packages.create(ID, 'another hunter2').catch(() => undefined);
    const { rows } = await gate.ledger.list({ kind: 'refusal' });
    const events = await gate.ledger.events({ kind: 'refusal', id: rows[0]?.id ?? '' });
    const told = events.map(({ data: { code, verb, content, package_id } }) => [code, verb, content ?? package_id]);
    assert.deepEqual(told, [
      ['INVALID_ENVELOPE', 'package apply', contentRef(texts[0] as string)],
      ['ILLEGAL_TRANSITION', 'package apply', contentRef(texts[1] as string)],
      ['INVALID_ENVELOPE', 'package apply', contentRef(new Uint8Array([0xff]))],
      ['PACKAGE_EXISTS', 'package create', ID],
    ]);
    assert.ok(!JSON.stringify(events).includes('hunter2'));
  });

  it('and a list that nobody can ask for are refused by their codes', async () => {
    verifies('packages.machine.gates');
    const { gate } = await brought(await memoryWorld(), 'INTAKE');
    await gate.packages.create('pkg_b', 'b');
    assert.deepEqual(
      (await gate.packages.list()).rows.map(({ id, status, revision }) => [id, status, revision]),
      [
        [ID, 'INTAKE', 0],
        ['pkg_b', 'INTAKE', 0],
      ],
    );
    const page = await gate.packages.list({ states: ['INTAKE'], limit: 1 });
    assert.equal((await gate.packages.list({ limit: 1, after: page.next ?? '' })).rows.length, 1);
    assert.deepEqual((await gate.packages.list({ states: ['CANCELLED'] })).rows, []);
    for (const filter of [{ states: ['OPEN'] }, { limit: 0 }, { after: 'x' }]) {
      assert.equal(await codeOf(gate.packages.list(filter)), 'invalid');
    }
    assert.equal(await codeOf(gate.packages.status('pkg_none')), 'PACKAGE_NOT_FOUND');
    const checked = await gate.packages.check(JSON.stringify(envelope('set_objective', 0)));
    assert.deepEqual(checked, { package_id: ID, action: 'set_objective', replayed: false });
    assert.equal((await gate.packages.status(ID)).manifest.revision, 0, 'nothing was written');
    const done = JSON.stringify(envelope('set_objective', 0));
    await gate.packages.apply(done);
    assert.equal((await gate.packages.check(done)).replayed, true);
    assert.equal(await codeOf(gate.packages.check(JSON.stringify(envelope('cancel', 0)))), 'STALE_ACTION');
    assert.match(await gate.packages.prompt(ID), /## prepare_summary/);
    assert.equal((await gate.packages.tools(ID)).length, 4);
  });
});

const roots: string[] = [];
after(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true });
});

/** A gate over a repository, with a package whose draft is ready. */
async function releaseWorld() {
  const root = mkdtempSync(join(tmpdir(), 'countersign-release-'));
  roots.push(root);
  const repository = join(root, 'repository');
  mkdirSync(repository);
  await plainGit(repository, 'init', '-q', '-b', 'main');
  writeFileSync(join(repository, 'README.md'), 'one\n');
  await plainGit(repository, 'add', '.');
  await plainGit(repository, 'commit', '-q', '-m', 'first');
  const trust = `${TRUST}connectors:\n  git-local:\n    repositories:\n      web: { path: ${repository} }\n`;
  const world = await homeWorld({ trust });
  await brought(world, 'DRAFT_READY');
  const release = () => world.gate.packages.release(ID, { project: 'web', target: 'web#main' });
  return { world, repository, release };
}

describe('a release', () => {
  it('writes the draft to its path by an action that a person signed, with the package as its work item', async () => {
    verifies('packages.release.writes');
    const { world, repository, release } = await releaseWorld();
    const { gate } = world;
    const { action_id } = await release();
    assert.deepEqual(await release(), { action_id, joined: true });
    const { content } = await gate.show(action_id);
    const sha256 = createHash('sha256').update('# Notes\n').digest('hex');
    assert.deepEqual([content.work_item, content.connector, content.operation], [ID, 'git-local', 'write']);
    const { manifest_sha256 } = await gate.packages.status(ID);
    assert.equal(content.preconditions?.package_revision, '4');
    assert.equal(content.preconditions?.package_manifest, manifest_sha256);
    const args = JSON.parse(await gate.args(action_id));
    assert.deepEqual([args.path, args.content_sha256], ['docs/notes.md', sha256]);
    const { lines, preview } = await gate.summary(action_id);
    assert.ok(lines.some((line) => line.includes(ID)) && lines.some((line) => line.includes(sha256)));
    assert.match(preview?.text ?? '', /\+# Notes/);
    assert.equal(await codeOf(gate.execute(action_id)), 'receipt_required');
    await approve(world, action_id);
    assert.equal((await gate.execute(action_id)).state, 'confirmed');
    assert.equal(readFileSync(join(repository, 'docs/notes.md'), 'utf8'), '# Notes\n');
    assert.equal(await plainGit(repository, 'log', '-1', '--format=%s', 'main'), `${ID}: draft-1`);
    assert.deepEqual((await auditLedger(gate.ledger)).defects, []);
    await world.close();
  });

  it('is launched only while the package stands at the revision at which it was asked for', async () => {
    verifies('packages.release.pinned');
    const { world, repository, release } = await releaseWorld();
    const { gate } = world;
    const { action_id } = await release();
    await approve(world, action_id);
    await apply(world, 'cancel');
    assert.equal(await codeOf(gate.execute(action_id)), 'stale_precondition');
    assert.equal(await codeOf(release()), 'GATE_UNSATISFIED');
    assert.equal(await codeOf(gate.proposeLike(action_id)), 'stale_precondition');
    const args = {
      path: 'docs/notes.md',
      content_sha256: createHash('sha256').update('# Notes\n').digest('hex'),
      message: 'by hand',
    };
    const byHand = {
      project: 'web',
      work_item: ID,
      connector: 'git-local',
      operation: 'write',
      target: 'web#main',
      args,
    };
    const content = [new TextEncoder().encode('# Notes\n')];
    assert.equal(await codeOf(gate.propose({ ...byHand, content })), 'stale_precondition');
    assert.equal(await plainGit(repository, 'rev-list', '--count', 'main'), '1');
    await world.close();
  });

  it('loses against a cancellation at the same time, or comes before it', async () => {
    verifies('packages.release.pinned');
    for (let round = 0; round < 3; round += 1) {
      const { world, repository, release } = await releaseWorld();
      const { action_id } = await release();
      await approve(world, action_id);
      const [executed] = await Promise.allSettled([world.gate.execute(action_id), apply(world, 'cancel')]);
      const commits = await plainGit(repository, 'rev-list', '--count', 'main');
      const events = await world.gate.ledger.log(0);
      const at = (type: string, text: string) =>
        events.findIndex(({ event }) => event.type === type && JSON.stringify(event.data).includes(text));
      const launched = at('action-launched', '');
      if (executed.status === 'fulfilled') {
        assert.equal(commits, '2');
        assert.ok(launched < at('envelope-accepted', '"cancel"'), 'the launch was written first');
      } else {
        assert.deepEqual([commits, launched, executed.reason.code], ['1', -1, 'stale_precondition']);
      }
      await world.close();
    }
  });

  it('needs a draft; and a work item that names a package binds nothing that carries no draft of it', async () => {
    verifies('packages.release.pinned');
    const world = await brought(await memoryWorld(), 'AUTHORING_AUTHORIZED');
    const { gate } = world;
    assert.equal(await codeOf(gate.packages.release(ID, { project: 'web', target: 'web#main' })), 'GATE_UNSATISFIED');
    const { action_id } = await gate.propose(sending({ work_item: ID }));
    assert.equal((await gate.show(action_id)).content.preconditions, null);
    await apply(world, 'cancel');
    await approve(world, action_id);
    assert.equal((await gate.execute(action_id)).state, 'confirmed');
    const unknown = await gate.propose(sending({ work_item: 'pkg_nobody', args: { text: 'b' } }));
    assert.equal(unknown.state, 'proposed');
  });
});
