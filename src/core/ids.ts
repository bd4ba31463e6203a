/**
 * Names and ids: their forms, their brands, and the one place that mints them.
 * Every pattern is a full match: a trailing newline is hostile input. An id of one type can't be passed for another.
 * Source: spec core (ids).
 */
import type { Clock, Random } from './time.js';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type ActionId = Branded<'action'>;
export type RequestId = Branded<'request'>;
export type DecisionId = Branded<'decision'>;
/** `human:NAME`, `agent:NAME` or `engine:NAME`. */
export type Principal = Branded<'principal'>;

/** Prefixes of the ids that are a ULID behind a prefix. */
export type UlidPrefix = 'act' | 'chg' | 'run' | 'grant' | 'dec' | 'ev' | 'req' | 'tok' | 'inv';

const ULID = '[0-7][0-9A-HJKMNP-TV-Z]{25}';
const NAME = '[A-Za-z0-9][A-Za-z0-9._-]{0,63}';

export const PATTERNS = {
  action: new RegExp(`^act_${ULID}$(?!\n)`),
  request: new RegExp(`^req_${ULID}$(?!\n)`),
  decision: new RegExp(`^dec_${ULID}$(?!\n)`),
  grant: new RegExp(`^grant_${ULID}$(?!\n)`),
  package: /^pkg_[A-Za-z0-9_-]{1,63}$(?!\n)/,
  token: new RegExp(`^tok_${ULID}$(?!\n)`),
  invitation: new RegExp(`^inv_${ULID}$(?!\n)`),
  name: new RegExp(`^${NAME}$(?!\n)`),
  principal: new RegExp(`^(?:human|agent|engine):${NAME}$(?!\n)`),
  human: new RegExp(`^human:${NAME}$(?!\n)`),
  agent: new RegExp(`^agent:${NAME}$(?!\n)`),
  /** A project, connector or operation; an operation may also be a full method name with a leading slash. */
  project: /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$(?!\n)/,
  operation: /^\/?[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$(?!\n)/,
  sha256: /^sha256:[0-9a-f]{64}$(?!\n)/,
  currency: /^[A-Z]{3}$(?!\n)/,
  secretName: /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$(?!\n)/,
  /** A short word for a program, such as `not_mergeable`. */
  outcomeCode: /^[a-z0-9_.-]{1,64}$(?!\n)/,
  /** The id of any record of the ledger: printable ASCII without a space. */
  recordId: /^[!-~]{1,256}$(?!\n)/,
  ledgerId: /^[0-9a-f]{32}$(?!\n)/,
} as const;

export function isActionId(text: string): text is ActionId {
  return PATTERNS.action.test(text);
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const POOL_BYTES = 1_000;

/**
 * Mints ULIDs: 48 bits of milliseconds and 80 random bits, 26 characters of Crockford base32 in upper case. Ids of one
 * minter grow strictly, also within a millisecond and when the clock goes back: the random part is then counted up.
 */
export class IdMinter {
  readonly #clock: Clock;
  readonly #random: Random;
  #pool = new Uint8Array(0);
  #poolAt = 0;
  #lastMs = -1;
  readonly #tail = new Uint8Array(16);

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** An id such as `act_01JDX…`. */
  mint(prefix: UlidPrefix): string {
    const now = this.#clock.now();
    if (now > this.#lastMs) {
      this.#lastMs = now;
      this.#refill();
    } else if (!this.#countUp()) {
      this.#lastMs += 1;
      this.#refill();
    }
    let text = '';
    for (let rest = this.#lastMs, i = 0; i < 10; i += 1) {
      text = CROCKFORD.charAt(rest % 32) + text;
      rest = Math.floor(rest / 32);
    }
    for (let i = 0; i < 16; i += 1) text += CROCKFORD.charAt(this.#tail[i] as number);
    return `${prefix}_${text}`;
  }

  #refill(): void {
    if (this.#poolAt + 16 > this.#pool.length) {
      this.#pool = Uint8Array.from(this.#random.bytes(POOL_BYTES));
      this.#poolAt = 0;
    }
    for (let i = 0; i < 16; i += 1) this.#tail[i] = (this.#pool[this.#poolAt + i] as number) & 31;
    this.#poolAt += 16;
  }

  /** Adds one to the random part; false when it would overflow. */
  #countUp(): boolean {
    for (let i = 15; i >= 0; i -= 1) {
      const digit = (this.#tail[i] as number) + 1;
      this.#tail[i] = digit & 31;
      if (digit < 32) return true;
    }
    return false;
  }
}
