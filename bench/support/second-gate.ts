/** A second gate at the same database, as a process: reads `IN_FLIGHT CYCLES` from its input, answers cycles per second. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { unlockKey } from '../../src/app/index.js';
import { cycle, openBeside } from './world.js';

const folder = process.argv[2] ?? '';
const gate = await openBeside(folder);
const key = await unlockKey(readFileSync(join(folder, 'keys', 'alice.key'), 'utf8'), 'bench passphrase');
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const [inFlight = 1, cycles = 1] = line.split(' ').map(Number);
  const startedAt = performance.now();
  let left = cycles;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left-- > 0) await cycle({ gate, key });
    }),
  );
  process.stdout.write(`${(cycles / (performance.now() - startedAt)) * 1_000}\n`);
}
await gate.close();
process.exit(0);
