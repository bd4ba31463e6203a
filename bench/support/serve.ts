/**
 * The server of the benchmark, in a process of its own: the gate of a home, and beside it in the same process what it is
 * compared with: a bare Hono route and a bare route of Node that answer as many bytes, and a bare event stream of Hono.
 * Its parent asks for its memory, and tells what the bare routes answer.
 */
import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { open } from '../../src/app/index.js';
import { serve } from '../../src/server/index.js';
import { nothing } from './world.js';

const [, , home = ''] = process.argv;
const gate = await open({ home, as: 'agent:bench', connectors: [nothing] });
const { publicUrl } = await serve(gate, { publicUrl: 'http://localhost:0', version: '0.0.0' });

let body = '{}';
const streams = new Set<ReadableStreamDefaultController<Uint8Array>>();
const hono = new Hono();
hono.get('/route', (context) => context.body(body, 200, { 'Content-Type': 'application/json' }));
hono.post('/route', async (context) => {
  JSON.parse(await context.req.text());
  return context.body(body, 200, { 'Content-Type': 'application/json' });
});
hono.get('/events', () => {
  let own: ReadableStreamDefaultController<Uint8Array>;
  const readable = new ReadableStream<Uint8Array>({
    start: (controller) => {
      own = controller;
      streams.add(controller);
    },
    cancel: () => void streams.delete(own),
  });
  return new Response(readable, { headers: { 'Content-Type': 'text/event-stream' } });
});
hono.post('/push', (context) => {
  const bytes = new TextEncoder().encode(`id: 1\ndata: ${body}\n\n`);
  for (const controller of streams) controller.enqueue(bytes);
  return context.body('{}');
});

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

const honoUrl = await listening(createServer(getRequestListener(hono.fetch)));
const nodeUrl = await listening(
  createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(200, { 'Content-Type': 'application/json' }).end(body));
  }),
);

process.on('message', (message: { readonly body?: string }) => {
  if (message.body !== undefined) body = message.body;
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.({ held: heapUsed + external });
});
process.send?.({ publicUrl, honoUrl, nodeUrl });
