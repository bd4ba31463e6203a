/**
 * A process of its own that launches against a bound of policy: `HOME COUNT NAME`. It tells when it is ready, waits for a line,
 * launches, and tells how many ran and how many were refused with which code.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { open } from '../../src/app/index.js';
import { Refusal } from '../../src/core/index.js';
import { CountingConnector } from './counting-connector.js';

const [home = '', count = '0', name = ''] = process.argv.slice(2);
const connector = new CountingConnector();
connector.behave = async (call, effect) => {
  appendFileSync(join(home, '..', 'effects'), `${call.actionId}\n`);
  return effect();
};

async function main(): Promise<void> {
  const gate = await open({ home, connectors: [connector] });
  process.stdout.write('ready\n');
  await new Promise<void>((resolve) => createInterface({ input: process.stdin }).once('line', () => resolve()));
  const codes: Record<string, number> = {};
  let left = Number(count);
  const one = async (): Promise<void> => {
    const money = { amount: 1, currency: 'EUR' };
    const proposal = { project: 'acme', connector: 'counting', operation: 'pay', target: 'shop', ...money };
    for (;;) {
      const text = `${name}-${left}`;
      left -= 1;
      if (left < 0) return;
      let code = 'ran';
      for (let tries = 0; tries < 100; tries += 1) {
        try {
          await gate.proposeAndLaunch({ ...proposal, args: { ...money, text } });
          code = 'ran';
        } catch (error) {
          code = error instanceof Refusal ? error.code : String(error);
        }
        if (code !== 'busy') break;
      }
      codes[code] = (codes[code] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 16 }, one));
  await gate.close();
  process.stdout.write(`${JSON.stringify(codes)}\n`);
  process.exit(0);
}

if (process.argv.length > 3) await main();
