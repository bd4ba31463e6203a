/**
 * Launches by a standing approval, 256 in flight: proposed, covered, launched, confirmed, each with its part of the grant
 * taken and settled in the action's own commits.
 */
import { rmSync } from 'node:fs';
import { signWith } from '../../src/app/index.js';
import { prepareGate } from './world.js';

const LAUNCHES = 5_000;
/** Each stands for a thousand actions. */
const GRANTS = 8;
const IN_FLIGHT = 256;

/** Launches in a second, and the microseconds of processor of one. */
export async function standingRate(): Promise<{ readonly perSecond: number; readonly cpuMicros: number }> {
  const { gate, key, folder } = await prepareGate();
  const { digest } = await gate.operation('nothing', 'send');
  for (let grants = 0; grants < GRANTS; grants += 1) {
    const { issued } = await gate.requestStanding({
      project: 'bench',
      agents: ['agent:bench'],
      connector: 'nothing',
      operations: { send: digest },
      target: 'customer-*',
      class: 'irreversible',
      count: 1_000,
      until: Date.now() + 3_600_000,
    });
    await gate.submit(signWith(key, issued.request));
  }
  let serial = 0;
  const run = async (count: number) => {
    let left = count;
    const worker = async () => {
      while (left-- > 0) {
        serial += 1;
        const to = `customer-${serial}`;
        const proposal = {
          project: 'bench',
          connector: 'nothing',
          operation: 'send',
          target: to,
          args: { to, text: 'x' },
        };
        const { action_id } = await gate.propose(proposal);
        // A grant may be used up between approval and launch: another one takes its place.
        const again = () => gate.coverByStanding(action_id).then(() => gate.execute(action_id));
        const { state } = await gate.execute(action_id).catch(again);
        if (state !== 'confirmed') throw new Error(`the action is ${state}`);
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  };
  await run(LAUNCHES / 5);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  await run(LAUNCHES);
  const seconds = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage(cpuBefore);
  await gate.close();
  rmSync(folder, { recursive: true, force: true });
  return { perSecond: LAUNCHES / seconds, cpuMicros: (user + system) / LAUNCHES };
}
