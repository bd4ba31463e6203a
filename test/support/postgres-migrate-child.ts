/** Moves a ledger in a process of its own, which dies at a failpoint: HOME TO POINT. */
import { homeAt } from '../../src/app/index.js';
import { migrateTo } from '../../src/app/internal.js';

const [folder = '', to = '', point = ''] = process.argv.slice(2);
void migrateTo(homeAt(folder, {}), to, {
  now: Date.now(),
  failpoint: (name) => {
    if (name === point) process.kill(process.pid, 'SIGKILL');
  },
});
