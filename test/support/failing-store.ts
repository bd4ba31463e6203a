/** A store in memory whose n-th commit from now on fails, before or after it took effect. */
import { MemoryStore } from '../../src/ledger/index.js';
import { LEDGER_ID } from './gate-world.js';

export class FailingStore extends MemoryStore {
  /** Commits until one fails; 0 when none does. */
  #left = 0;
  #isDone = false;

  /** Called at every try to lock the store while another process is said to hold it. */
  held: (() => void) | undefined;

  constructor() {
    super(LEDGER_ID);
  }

  override begin(): boolean {
    if (this.held === undefined) return super.begin();
    this.held();
    return false;
  }

  /** The n-th commit from now fails; `done` says whether it took effect all the same. */
  failAt(commit: number, done = false): void {
    this.#left = commit;
    this.#isDone = done;
  }

  override commit(): void {
    if (this.#left > 0) {
      this.#left -= 1;
      if (this.#left === 0) {
        if (this.#isDone) super.commit();
        throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' });
      }
    }
    super.commit();
  }
}
