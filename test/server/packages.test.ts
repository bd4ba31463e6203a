/** Packages over HTTP: the same envelopes, by the same reader, for tokens whose scope has the word for it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PACKAGE_ROUTES, type Route } from '../../src/api/index.js';
import type { Client } from '../../src/client/index.js';
import type { ActionName } from '../../src/packages/schema.js';
import { codeOf, signed } from '../support/gate-world.js';
import { envelope, ID, PAYLOADS } from '../support/package-world.js';
import { type ServerWorld, serverWorld } from '../support/server-world.js';
import { verifies } from '../support/verifies.js';

describe('packages over HTTP', () => {
  let world: ServerWorld;
  let client: Client;
  let text = '';
  before(async () => {
    world = await serverWorld();
    text = (await world.token('agent:writer', { verbs: ['package'] })).text;
    client = world.client(text);
  });
  after(() => world.close());

  const send = (path: string, body: string, type = 'application/json') =>
    world.raw(path, { method: 'POST', headers: { authorization: `Bearer ${text}`, 'content-type': type }, body });

  const step = async (action: ActionName) => {
    const { manifest } = (await client.call('package', { package_id: ID })) as unknown as { manifest: Manifest };
    const { revision } = manifest;
    return envelope(action, revision, { payload: PAYLOADS[action] }) as unknown as Record<string, never>;
  };
  interface Manifest {
    readonly revision: number;
    readonly state: string;
    readonly inputs: readonly { readonly content_sha256: string }[];
    readonly summary: { readonly content: string };
  }

  it('go from an intent to a confirmed summary, by envelopes and by the signature of a person', async () => {
    verifies('server.packages');
    const begun = { package_id: ID, intent: 'write the notes' };
    assert.equal((await client.call('createPackage', { body: begun }))['created'], true);
    assert.equal((await client.call('createPackage', { body: begun }))['created'], false);
    assert.equal(
      await codeOf(client.call('createPackage', { body: { ...begun, intent: 'another' } })),
      'PACKAGE_EXISTS',
    );
    assert.equal(await codeOf(client.call('packageSummary', { package_id: ID })), 'GATE_UNSATISFIED');
    const first = await step('record_input');
    assert.equal((await client.call('checkEnvelope', { body: first }))['replayed'], false);
    assert.equal((await client.call('applyEnvelope', { body: first }))['revision'], 1);
    assert.equal((await client.call('applyEnvelope', { body: first }))['replayed'], true);
    await client.call('applyEnvelope', { body: await step('set_objective') });
    await client.call('applyEnvelope', { body: await step('prepare_summary') });
    const { manifest } = (await client.call('package', { package_id: ID })) as unknown as { manifest: Manifest };
    assert.equal(manifest.state, 'SUMMARY_PENDING');
    const summary = await client.call('packageSummary', { package_id: ID });
    assert.equal(summary['content'], manifest.summary.content);
    const input = manifest.inputs[0]?.content_sha256 ?? '';
    assert.deepEqual(await client.call('packageContent', { package_id: ID, content: input }), { content: 'hello' });
    const { prompt, tools } = await client.call('packagePrompt', { package_id: ID });
    assert.ok(prompt.includes('revise_intake') && tools.length > 0);
    // The token asks; a person signs; nothing that the token holds confirms.
    assert.equal(
      await codeOf(client.call('applyEnvelope', { body: await step('confirm_summary') })),
      'receipt_required',
    );
    const { request } = await client.call('confirmPackage', { package_id: ID, body: {} });
    const submitted = await world
      .client((await world.token('agent:courier')).text)
      .call('submit', { body: { receipt: signed(request as never) as never } });
    assert.equal(submitted.applied?.['state'], 'AUTHORING_AUTHORIZED');
    await client.call('applyEnvelope', { body: await step('record_draft_artifact') });
    assert.equal((await client.call('verifyPackage', { package_id: ID }))['defect'], undefined);
    const { rows } = await client.call('packages', { query: { states: 'DRAFT_READY' } });
    assert.deepEqual(
      rows.map(({ id }) => id),
      [ID],
    );
    const release = { project: 'web', target: 'web#main' };
    assert.equal(await codeOf(client.call('releasePackage', { package_id: ID, body: release })), 'forbidden');
    for (const [states, code] of [
      ['DRAFT_READY,nothing', 'invalid'],
      ['', 'invalid'],
    ] as const) {
      assert.equal(await codeOf(client.call('packages', { query: { states } })), code, states);
    }
    assert.equal(await codeOf(client.call('package', { package_id: 'pkg_nobody' })), 'PACKAGE_NOT_FOUND');
  });

  it('take an envelope as its bytes are, in every defect as any other door', async () => {
    verifies('server.packages');
    const good = JSON.stringify(envelope('cancel', 0, { package_id: 'pkg_bytes' }));
    await client.call('createPackage', { body: { package_id: 'pkg_bytes', intent: 'bytes' } });
    for (const body of [
      good.replace('"expected_revision":0', '"expected_revision":0.0'),
      good.replace('"action":', '"action":"cancel","action":'),
      `${good}${good}`,
      '[]',
      '',
      'no envelope',
      '['.repeat(100_000),
    ]) {
      for (const path of ['/v1/envelopes', '/v1/envelopes/check']) {
        const answer = await send(path, body);
        assert.equal(((await answer.json()) as { code: string }).code, 'INVALID_ENVELOPE', body.slice(0, 80));
      }
    }
    const long = await send('/v1/envelopes', `${good}${' '.repeat(2 * 1024 * 1024)}`);
    assert.equal(((await long.json()) as { code: string }).code, 'invalid');
    const plain = await send('/v1/envelopes', good, 'text/plain');
    assert.equal(((await plain.json()) as { code: string }).code, 'invalid');
    // What a model wrote around it is left out, as everywhere.
    const told = await send('/v1/envelopes', `Here it is: ${good} done`);
    assert.equal(told.status, 200);
  });

  it('are for tokens whose scope has the word for them, at every route', async () => {
    verifies('packages.token');
    const none = (await world.token('agent:none')).text;
    for (const [name, route] of Object.entries(PACKAGE_ROUTES) as [string, Route][]) {
      const path = route.path.replaceAll(/\{[a-z_]+\}/g, ID);
      const body = BODIES[name] ?? '{}';
      const init =
        route.method === 'GET' ? {} : { method: 'POST', body, headers: { 'content-type': 'application/json' } };
      const answer = await world.raw(path, {
        ...init,
        headers: { ...init.headers, authorization: `Bearer ${none}` },
      });
      assert.equal(((await answer.json()) as { code: string }).code, 'forbidden', name);
    }
  });
});

/** Bodies that a route takes. */
const BODIES: Readonly<Record<string, string>> = {
  createPackage: JSON.stringify({ package_id: 'pkg_x', intent: 'x' }),
  applyEnvelope: JSON.stringify(envelope('cancel', 0)),
  checkEnvelope: JSON.stringify(envelope('cancel', 0)),
  releasePackage: JSON.stringify({ project: 'web', target: 'web#main' }),
};
