/** Traces: sent to a collector that is one, from the request at the door into the call of a connector. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { open } from '../../src/app/index.js';
import { startTelemetry } from '../../src/app/telemetry.js';
import { connect } from '../../src/client/index.js';
import { serve } from '../../src/server/index.js';
import { CountingConnector } from '../support/counting-connector.js';
import { ROOT } from '../support/files.js';
import { childHome } from '../support/gate-processes.js';
import { approve, codeOf, sending, TRUST } from '../support/gate-world.js';
import { addToken } from '../support/server-world.js';
import { verifies } from '../support/verifies.js';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

/** A collector of OTLP over HTTP, and beside it an endpoint that a connector calls. */
async function collector(status = 200) {
  const spans: Span[] = [];
  const bodies: string[] = [];
  const called: IncomingHttpHeaders[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += String(part);
    if (request.url === '/v1/traces') {
      bodies.push(body);
      const { resourceSpans } = JSON.parse(body) as {
        resourceSpans: readonly { scopeSpans: readonly { spans: readonly Span[] }[] }[];
      };
      for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans);
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    called.push(request.headers);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  return { spans, bodies, called, url, close: () => server.close() };
}

async function within<T>(variables: Readonly<Record<string, string>>, act: () => Promise<T>): Promise<T> {
  Object.assign(process.env, variables);
  try {
    return await act();
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name];
  }
}

const trustFor = (url: string) => `${TRUST}connectors:
  http:
    endpoints:
      notify:
        base: ${url}
        method: POST
        path: /notify
        class: irreversible
        private_network: true
        args: { text: { type: string } }
        outcomes: { confirmed: [200] }
`;

describe('traces', () => {
  it('go from a request to the call of a connector, which is told where it stands, and say nothing of what was asked', async () => {
    verifies('server.traces');
    verifies('app.traces.facts');
    const { spans, bodies, called, url, close } = await collector();
    const { folder, remove } = await childHome(undefined, trustFor(url));
    const gate = await within({ OTEL_EXPORTER_OTLP_ENDPOINT: url }, () => open({ home: join(folder, 'home') }));
    const world = { gate, clock: { now: () => Date.now() } } as never;
    const serving = await serve(gate, { publicUrl: 'http://localhost:0', version: '0.0.0' });
    const token = await addToken(world, 'agent:traced');
    const client = connect({ url: serving.publicUrl, token });
    const args = { text: 'a word that nobody else may read' };
    const { action_id } = await client.call('propose', {
      body: { project: 'acme', connector: 'http', operation: 'notify', target: `${url}/notify`, args } as never,
    });
    assert.equal(await codeOf(client.call('execute', { action_id })), 'receipt_required');
    await approve(world, action_id);
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const answer = await fetch(new URL(`/v1/actions/${action_id}/execute`, serving.publicUrl), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, traceparent: `00-${trace}-b7ad6b7169203331-01` },
    });
    assert.equal(((await answer.json()) as { state: string }).state, 'confirmed');
    await serving.close();
    await gate.close();

    const named = (name: string, traceId?: string) =>
      spans.find((span) => span.name === name && (traceId === undefined || span.traceId === traceId));
    const chain = ['POST /v1/actions/{action_id}/execute', 'execute'].map((name) => named(name, trace));
    const [door, verb] = chain;
    const call = named('connector', trace);
    assert.equal(door?.parentSpanId, 'b7ad6b7169203331');
    assert.equal(verb?.parentSpanId, door?.spanId);
    for (const name of ['launch: checked', 'launch: written', 'connector']) {
      assert.equal(named(name, trace)?.parentSpanId, verb?.spanId, name);
    }
    assert.equal(called.length, 1);
    assert.equal(called[0]?.['traceparent'], `00-${trace}-${call?.spanId}-01`);
    assert.ok(named('propose') && named('POST /v1/actions'));
    const facts = Object.fromEntries((call?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]));
    assert.equal(facts['countersign.action_id'], action_id);
    assert.equal(facts['countersign.result'], 'confirmed');
    const refused = spans.find(({ attributes }) =>
      attributes.some(({ key, value }) => key === 'countersign.code' && value['stringValue'] === 'receipt_required'),
    );
    assert.ok(refused);
    for (const body of bodies) {
      for (const secret of [args.text, token, '/notify']) assert.ok(!body.includes(secret), secret);
    }
    close();
    remove();
  });

  it('tell the code of an outcome where it is a short word, and no text that a connector has for one', async () => {
    verifies('app.traces.facts');
    const { spans, bodies, url, close } = await collector();
    const { folder, remove } = await childHome();
    const connector = new CountingConnector();
    const home = join(folder, 'home');
    const gate = await within({ OTEL_EXPORTER_OTLP_ENDPOINT: url }, () => open({ home, connectors: [connector] }));
    const world = { gate, clock: { now: () => Date.now() } } as never;
    for (const code of ['declined', 'the card of ann is declined', 'x'.repeat(65)]) {
      connector.behave = async () => ({ result: 'failed', code });
      const { action_id } = await gate.propose(sending({ args: { text: code } }));
      await approve(world, action_id);
      assert.equal((await gate.execute(action_id)).code, code);
      assert.equal((await gate.show(action_id)).attempts[0]?.code, code);
    }
    await gate.close();
    const codes = spans
      .filter(({ name }) => name === 'connector')
      .map(({ attributes }) => attributes.find(({ key }) => key === 'countersign.code')?.value['stringValue']);
    assert.deepEqual(codes, ['declined', undefined, undefined]);
    assert.ok(bodies.every((body) => !body.includes('ann')));
    close();
    remove();
  });

  it('of a collector that fails change nothing, and a call without one says nothing of itself', async () => {
    verifies('server.traces');
    const { called, url, close } = await collector(500);
    const { folder, remove } = await childHome(undefined, trustFor(url));
    for (const variables of [{ OTEL_EXPORTER_OTLP_ENDPOINT: url }, {}]) {
      const gate = await within(variables, () => open({ home: join(folder, 'home') }));
      const world = { gate, clock: { now: () => Date.now() } } as never;
      const { action_id } = await gate.propose({
        ...{ project: 'acme', connector: 'http', operation: 'notify', target: `${url}/notify` },
        args: { text: `t${called.length}` },
      });
      await approve(world, action_id);
      assert.equal((await gate.execute(action_id)).state, 'confirmed');
      const began = performance.now();
      await gate.close();
      assert.ok(performance.now() - began < 5_000);
    }
    assert.deepEqual(
      called.map(({ traceparent }) => traceparent !== undefined),
      [true, false],
    );
    close();
    remove();
  });

  it('are sent nowhere, and their library is not loaded, unless a collector is named', async () => {
    verifies('server.traces');
    const asked = (variables: Record<string, string>) =>
      startTelemetry({ variable: (name: string) => variables[name] });
    assert.equal(await asked({}), undefined);
    assert.equal(await asked({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x:1', OTEL_SDK_DISABLED: 'true' }), undefined);
    for (const url of ['localhost:4318', 'ftp://x', 'nothing']) {
      assert.equal(await codeOf(asked({ OTEL_EXPORTER_OTLP_ENDPOINT: url })), 'config_invalid');
    }
    const app = pathToFileURL(join(ROOT, 'src', 'app', 'index.ts')).href;
    const program = `await import(${JSON.stringify(app)}); const { createRequire } = await import('node:module');
      const loaded = () => Object.keys(createRequire(${JSON.stringify(app)}).cache).some((path) => path.includes('opentelemetry'));
      const before = loaded();
      await import(${JSON.stringify(app.replace('index.ts', 'sent-traces.ts'))});
      console.log(before, loaded());`;
    const { stdout } = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    assert.equal(stdout.trim(), 'false true');
  });
});
