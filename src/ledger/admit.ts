/**
 * What may enter the ledger. Every check here is one that only a mistake of ours can break; the unit of work that
 * breaks it fails by itself, before anything of it stands in the batch.
 *
 * Text that a store would hold in another spelling than the one under the hash (half of a surrogate pair), a number
 * that a column can't hold, a payload under a foreign digest: each would make a store that never verifies again.
 * Source: spec ledger.
 */
import { assert, canonicalize, contentRef, isOurs, isWellFormed, type Json, LIMITS, PATTERNS } from '../core/index.js';
import { type AnyKind, type Columns, isRecordId } from './kind.js';
import type { NewEvent, Work } from './ledger.js';

const EVENT_TYPE = /^[a-z][a-z0-9-]{0,63}(?:\/[1-9][0-9]{0,3})?$(?!\n)/;
/** The name of a kind of claim, and a principal: no space, which separates the parts of a claim's name. */
const CLAIM_PART = PATTERNS.recordId;

/** Refuses by an assertion a unit that names what can be no record or no claim. */
export function admitWork(work: Work<Json>): void {
  const { actor, claim, once = [], reads = [], writes } = work;
  assert(PATTERNS.recordId.test(actor), 'the actor of a unit of work is a principal');
  assert(reads.length + writes.length <= LIMITS.unitRecordsMax, 'a unit of work names too many records');
  for (const { id } of reads) assert(isRecordId(id), 'a unit of work reads what can be no record');
  for (const { id } of writes) assert(isRecordId(id), 'a unit of work writes what can be no record');
  for (const { scope, key } of once) {
    assert(CLAIM_PART.test(scope) && isWellFormed(key), 'a claim has a scope and a key');
  }
  if (claim === undefined) return;
  const named = CLAIM_PART.test(claim.scope) && CLAIM_PART.test(claim.principal);
  assert(named && isWellFormed(claim.key), 'a claim has a scope, a principal and a key');
  assert(PATTERNS.sha256.test(claim.command), 'a claim names its command by a digest');
}

/** Refuses by an assertion an event that a store could not give back as it was. */
export function admitEvent(draft: NewEvent): void {
  assert(EVENT_TYPE.test(draft.type), 'the type of an event is a word in kebab-case');
  assert(!Object.hasOwn(draft.data, 'claims'), 'the member `claims` of an event belongs to the ledger');
  for (const { ref, bytes } of draft.payloads ?? []) {
    assert(contentRef(bytes) === ref, 'a payload stands under another digest than its own');
  }
}

/** Refuses by an assertion columns that a store could not hold as they are. */
export function admitColumns(columns: Columns): Columns {
  const { due } = columns;
  assert(due === undefined || (Number.isSafeInteger(due) && due >= 0), 'a due time is a whole number of milliseconds');
  for (const name of ['project', 'status', 'principal', 'lookup'] as const) {
    const value = columns[name];
    assert(value === undefined || isWellFormed(value), 'a column is well-formed text');
  }
  return columns;
}

/**
 * The state document of a record whose kind keeps one: canonical text, so that it does not depend on the order in
 * which `evolve` wrote its members.
 */
export function documentOf(kind: AnyKind, state: Json): string | undefined {
  if (kind.keepsDocument !== true) return undefined;
  try {
    return canonicalize(state);
  } catch (error) {
    assert(!isOurs(error), `a state is plain JSON without undefined members, also at ${pathOf(error)}`);
    throw error;
  }
}

/** Where in a state the defect is: names of our own members alone. */
function pathOf(error: unknown): string {
  return isOurs(error) ? (error.path ?? '$') : '$';
}
