/** pg-boss: one job sent, fetched and completed. */
import PgBoss from 'pg-boss';
import { drive } from '../drive.mjs';

const boss = new PgBoss({ connectionString: process.env.PEER_DATABASE, max: 10, supervise: false, schedule: false });
boss.on('error', (error) => {
  throw error;
});
await boss.start();
await boss.createQueue('send');
await drive('pg-boss 10.4.2, one job', async (number) => {
  await boss.send('send', { to: 'somebody', number });
  const [job] = await boss.fetch('send');
  if (job === undefined) throw new Error('the peer did not run');
  await boss.complete('send', job.id);
});
await boss.stop({ graceful: false });
process.exit(0);
