/**
 * A worker in a process of its own: `charge` writes a line in a file of effects. Its arguments: the address of the server,
 * the token, the file, and how it behaves. It answers lines of JSON, each written before the next step begins.
 *
 * `ok`: answers. `hang`: never answers. `stop-before-claim`, `stop-after-claim`: stops itself with the offer, or with the claim, in
 * its hand, once, and goes on when it is told by a signal. `slow MS`: answers after a while. `throw`: throws. `none`: says that
 * nothing happened. `lose-claim N MS`: the answer to its Nth claim does not reach it, and each call takes a while. `late-claim MS`: the
 * answers to its claims take a while. `long BYTES`: answers so much.
 */
import { appendFileSync, readFileSync, writeSync } from 'node:fs';
import * as z from 'zod';
import { connect, NoEffect, Refusal } from '../../src/client/index.js';

const [, , url = '', token = '', file = '', behaviour = 'ok', ms = '0', more = '0'] = process.argv;

function tell(value: unknown): void {
  writeSync(1, `${JSON.stringify(value)}\n`);
}

let claims = 0;
let stops = behaviour.startsWith('stop') ? 1 : 0;
const send = globalThis.fetch;
globalThis.fetch = async (...given: Parameters<typeof fetch>) => {
  const isClaim = String(given[0]).endsWith('/v1/work/claim');
  if (isClaim) tell({ claiming: true });
  if (isClaim && behaviour === 'stop-before-claim' && stops-- > 0) process.kill(process.pid, 'SIGSTOP');
  const answer = await send(...given);
  if (isClaim) tell({ claimed: answer.status });
  if (isClaim && behaviour === 'stop-after-claim' && stops-- > 0) process.kill(process.pid, 'SIGSTOP');
  if (isClaim && behaviour === 'late-claim') await new Promise((resolve) => setTimeout(resolve, Number(ms)));
  if (isClaim && behaviour === 'lose-claim' && ++claims === Number(ms)) throw new TypeError('the connection is gone');
  return answer;
};

const worker = connect({ url, token }).worker({
  atOnce: 2,
  onDone: (done) => tell({ done }),
  operations: {
    charge: {
      version: '1',
      input: z.strictObject({ text: z.string().max(256), cents: z.int().min(1).optional() }),
      run: async ({ text }, { action_id, idempotencyKey }) => {
        tell({ running: action_id });
        if (behaviour === 'throw') throw new Error('broken');
        if (behaviour === 'none') throw new NoEffect('nothing');
        if (behaviour === 'slow') await new Promise((resolve) => setTimeout(resolve, Number(ms)));
        if (behaviour === 'lose-claim') await new Promise((resolve) => setTimeout(resolve, Number(more)));
        appendFileSync(file, `${idempotencyKey} ${text}\n`);
        if (behaviour === 'hang') await new Promise(() => undefined);
        if (behaviour === 'long') return { charged: 'x'.repeat(Number(ms)) };
        return { charged: text };
      },
      reconcile: async (_args, key) => (readFileSync(file, 'utf8').includes(key) ? 'confirmed' : undefined),
    },
  },
});
tell({ ready: true });
process.once('SIGTERM', () => void worker.stop());
worker.done.then(
  () => tell({ ended: true }),
  (error: unknown) => tell({ refused: error instanceof Refusal ? error.code : String(error) }),
);
