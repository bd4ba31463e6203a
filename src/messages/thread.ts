/**
 * Whether an ordered thread is what its writer wrote: every message valid, one thread, no repeated id, the first
 * without parent, each naming the hash of the one before. Gaps, reorders, insertions, forks and duplicates are found.
 *
 * Hashes alone prove order, not authorship: whoever rewrites a thread can chain it again. `each` demands a good
 * signature on every message; `cover` demands that each is signed or has a later one that is, whose signature covers
 * it through the chain. With `keys`, every signature has to be by one of them. What no check of a thread by itself
 * can find is a tail that was cut right behind a message that covers the rest: compare `count` and `head` with what
 * you remember.
 *
 * It streams. A message leaves behind 16 bytes of the SHA-256 of its id, in a table that is from 3/8 to 3/4 full: a
 * million messages take 32 MiB outside the engine's heap, and nothing else grows. No repeated id is ever missed, and
 * no two ids are taken for the same as long as nobody finds a collision of 128 bits.
 * Source: spec messages (thread); reliability T30.
 */
import type { Refusal } from '../core/index.js';
import { canonicalMessage, hashText } from './canonical.js';
import { IdSet } from './id-set.js';
import type { Message } from './schema.js';
import { AdmittedKeys, verifySignature } from './sign.js';
import { validateMessage } from './validate.js';

/** What can be wrong with a thread, in words. */
export const THREAD_DEFECTS = {
  invalid: 'the message is not valid',
  foreign_thread: 'the message belongs to another thread',
  repeated_id: 'an earlier message has the same id',
  first_has_parent: 'the first message names a parent: the beginning is missing',
  broken_chain: 'the message does not name the hash of the one before it',
  unsigned: 'the message is not signed',
  bad_signature: 'the signature does not verify',
  unverifiable_unknown_fields: 'the signature does not verify, and fields that are unknown here may be why',
  untrusted_signer: 'the signature is by a key that is not trusted',
  uncovered: 'neither this message nor a later one is signed',
} as const;

export type ThreadDefectName = keyof typeof THREAD_DEFECTS;

export interface ThreadDefect {
  /** Counted from 0. */
  readonly index: number;
  /** The message's own id: whoever shows it makes it displayable. */
  readonly id: string;
  readonly what: ThreadDefectName;
  /** The rule that an invalid message breaks. */
  readonly refusal?: Refusal;
}

export interface ThreadReport {
  readonly ok: boolean;
  /** Messages in front of the defect; all of them when there is none. */
  readonly count: number;
  /** Hash of the last of those; undefined when there is none. */
  readonly head: string | undefined;
  readonly defect?: ThreadDefect;
}

export interface ThreadOptions {
  /** Which signatures are demanded; none when absent, and `cover` when `keys` are given. */
  readonly signatures?: 'each' | 'cover';
  /** The public keys that may sign, each 64 lower-case hex digits. */
  readonly keys?: Iterable<string>;
}

/** Checks a thread message by message. It lives as long as the check of one thread. */
export class ThreadVerifier {
  readonly #signatures: 'each' | 'cover' | undefined;
  readonly #keys: ReadonlySet<string> | undefined;
  readonly #admitted = new AdmittedKeys();
  readonly #ids = new IdSet();
  #thread = '';
  #count = 0;
  #head: string | undefined;
  /** The first message that waits for a signature behind it. */
  #uncovered: { readonly index: number; readonly id: string } | undefined;
  #defect: ThreadDefect | undefined;

  constructor(options: ThreadOptions = {}) {
    this.#keys = options.keys === undefined ? undefined : new Set(options.keys);
    this.#signatures = options.signatures ?? (this.#keys === undefined ? undefined : 'cover');
  }

  /** Checks the next message. Answers the first defect of the thread so far; behind one, nothing more is checked. */
  add(message: Message): ThreadDefect | undefined {
    if (this.#defect !== undefined) return this.#defect;
    const refusal = validateMessage(message);
    const what = refusal === undefined ? this.#check(message) : 'invalid';
    if (what !== undefined) {
      const place = { index: this.#count, id: typeof message?.id === 'string' ? message.id : '' };
      this.#defect = refusal === undefined ? { ...place, what } : { ...place, what, refusal };
      return this.#defect;
    }
    this.#head = hashText(canonicalMessage(message));
    this.#count += 1;
    return undefined;
  }

  /** The verdict on everything that was added. */
  report(): ThreadReport {
    const defect = this.#defect ?? (this.#uncovered && ({ ...this.#uncovered, what: 'uncovered' } as const));
    const sofar = { count: this.#count, head: this.#head };
    return defect === undefined ? { ok: true, ...sofar } : { ok: false, ...sofar, defect };
  }

  #check(message: Message): ThreadDefectName | undefined {
    if (this.#count === 0) this.#thread = message.thread_id;
    if (message.thread_id !== this.#thread) return 'foreign_thread';
    if (!this.#ids.add(message.id)) return 'repeated_id';
    const parent = message.prev_hash ? message.prev_hash : undefined;
    if (parent !== this.#head) return this.#count === 0 ? 'first_has_parent' : 'broken_chain';
    return this.#signatures === undefined ? undefined : this.#checkSignature(message);
  }

  #checkSignature(message: Message): ThreadDefectName | undefined {
    const verdict = verifySignature(message, this.#admitted);
    if (verdict === 'unsigned' && this.#signatures === 'cover') {
      this.#uncovered ??= { index: this.#count, id: message.id };
      return undefined;
    }
    if (verdict !== 'good') return verdict;
    if (this.#keys !== undefined && !this.#keys.has(message.signer ?? '')) return 'untrusted_signer';
    this.#uncovered = undefined;
    return undefined;
  }
}

/** Checks a whole thread and stops at its first defect. Rejects only with what `messages` itself throws. */
export async function verifyThread(
  messages: Iterable<Message> | AsyncIterable<Message>,
  options: ThreadOptions = {},
): Promise<ThreadReport> {
  const verifier = new ThreadVerifier(options);
  for await (const message of messages) {
    if (verifier.add(message) !== undefined) break;
  }
  return verifier.report();
}
