/** DBOS: a workflow of one step, or with `PEER_WAITS` one that waits for an approval which another caller sends. */
import { DBOS } from '@dbos-inc/dbos-sdk';
import { drive } from '../drive.mjs';

DBOS.setConfig({
  name: 'peer',
  systemDatabaseUrl: process.env.PEER_DATABASE,
  logLevel: 'error',
  runAdminServer: false,
});
let effects = 0;
const oneStep = DBOS.registerWorkflow(
  async () =>
    DBOS.runStep(async () => {
      effects += 1;
      return 'done';
    }),
  { name: 'oneStep' },
);
const waiting = DBOS.registerWorkflow(
  async () => {
    const approved = await DBOS.recv('approval', 60);
    if (approved !== true) return 'denied';
    return DBOS.runStep(async () => {
      effects += 1;
      return 'done';
    });
  },
  { name: 'waiting' },
);
await DBOS.launch();
const waits = process.env.PEER_WAITS === '1';
await drive(`DBOS 5.3.0, ${waits ? 'a wait for an approval' : 'one step'}`, async (number) => {
  const before = effects;
  const handle = await DBOS.startWorkflow(waits ? waiting : oneStep, { workflowID: `w-${process.pid}-${number}` })();
  if (waits) await DBOS.send(handle.workflowID, true, 'approval');
  if ((await handle.getResult()) !== 'done' || effects === before) throw new Error('the peer did not run');
});
await DBOS.shutdown();
process.exit(0);
