/**
 * The key that signs a gate's threads: a file of the home, in no backup of the ledger, made once with the ledger.
 *
 * It promises: without the key everything can be read, and nothing is written that a thread would record, so that no
 * entry stands unsigned. No key is ever made for a ledger that is there: whoever deletes the file must not choose who
 * signs from then on. Faults `thread_key`.
 * Source: spec authority (one key per purpose), messages (threads).
 */
import { FILE_REASONS, readPlainFile, textOf } from '../connectors/index.js';
import { bytesToHex, Fault, LIMITS, type PrivateKey, publicKeyBytes } from '../core/index.js';
import type { Projection } from '../ledger/index.js';
import { readThreadKey, threadProjection } from '../messages/index.js';
import { threadEntry } from './thread-entries.js';

/** What to do where the key is gone; the same for everybody who is told. */
const MISSING_KEY_NEXT =
  'put your copy of the file back, for its owner alone (chmod 600); where there is none, this ledger stays readable ' +
  'and a new one begins in another home: `countersign init --home FOLDER`';

/** The key of a file. Faults `thread_key` where it is missing, unreadable, or no key. */
export function readThreadKeyFile(path: string): PrivateKey {
  const read = readPlainFile(path, LIMITS.configBytesMax);
  if (!read.ok) throw unread(path, read.reason === 'absent' ? 'is missing' : FILE_REASONS[read.reason], read.cause);
  try {
    return readThreadKey(textOf(read.bytes));
  } catch (error) {
    throw unread(path, 'can not be read', error);
  }
}

function unread(path: string, what: string, cause: unknown): Fault {
  const message = `the key that signs the threads ${what}: \`${path}\``;
  return new Fault('thread_key', message, cause, { next: MISSING_KEY_NEXT });
}

/** The public half of the key, 64 hex digits. Faults `thread_key`. */
export function threadPublicKey(path: string): string {
  return bytesToHex(publicKeyBytes(readThreadKeyFile(path)));
}

/** The projection that writes the threads; without the key one that refuses every commit with an entry. */
export function threadsOf(path: string): Projection {
  let signer: PrivateKey;
  try {
    signer = readThreadKeyFile(path);
  } catch (fault) {
    return unsigned(fault);
  }
  return threadProjection({ signer, entryOf: threadEntry });
}

/** INVARIANT: no event of a thread's is written without its signed entry (app.thread-key.missing). */
function unsigned(fault: unknown): Projection {
  return {
    name: 'threads',
    targets: (batch, view) => {
      if (batch.some((event) => threadEntry(event, view) !== undefined)) throw fault;
      return [];
    },
    project: () => [],
  };
}
