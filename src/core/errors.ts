/**
 * The one catalogue of codes, and the two classes that leave a public function.
 *
 * A `Refusal` means that the caller's request can't be granted and that no state changed. A `Fault` means that our side
 * failed. Both carry a code of this catalogue; neither ever carries a secret or the offending value.
 * Source: spec core (errors), actions (gate codes), authority (receipt codes).
 */

/** What a code means to a caller: in words, over HTTP, and as an exit status. */
export interface CodeRow {
  /** One clause: what happened. */
  readonly meaning: string;
  /** Whether the same request can succeed later without being changed. */
  readonly retry: boolean;
  /** What the caller should do. */
  readonly next: string;
  /** The HTTP status of the answer. */
  readonly http: number;
  /** The exit status of the command line: 1 refused, 2 usage, 70 a fault of ours. */
  readonly exit: 1 | 2 | 70;
}

function refused(meaning: string, next: string, http = 409, retry = false): CodeRow {
  return { meaning, next, http, retry, exit: 1 };
}

/** Every code. Adding a row demands a test that cites it. */
export const CODES = {
  // the request itself
  invalid: refused('the input is not well-formed', 'correct the named field and send it again', 400),
  unauthenticated: refused('nobody is known by this', 'show a token that is good', 401),
  invitation: refused('the invitation is over, or was opened before', 'ask for another invitation', 403),
  unknown_token: refused('no such token', 'check the id with `countersign agent list`', 404),
  forbidden: refused('the caller may not do this', 'use a principal that may', 403),
  not_found: refused('no such record', 'check the id', 404),
  config_location: refused(
    'the trust configuration stands where an agent could write it',
    'move it to a home outside any work tree, writable by its owner alone',
    400,
  ),
  config_invalid: refused('a configuration can not be used', 'correct the named line', 400),
  idempotency_reuse: refused('the idempotency key was used for another command', 'use a fresh key', 409),
  not_initialized: refused('there is no ledger here yet', 'run `countersign init`', 404),
  already_initialized: refused(
    'there is a ledger here already',
    'see what it needs with `countersign doctor`, or name another home',
  ),
  no_terminal: refused('this act needs a terminal', 'run it in a terminal of the store owner', 403),
  // the gate
  unknown_action: refused('no such action', 'check the id with `countersign action list`', 404),
  receipt_required: refused('a person has to approve this first', 'ask with `countersign action request`', 403),
  state: refused('the action is not in a state that allows this', 'look at it with `countersign action show`'),
  launched: refused('the action is running', 'wait for its outcome'),
  decision_required: refused('the outcome is unknown', 'check the outcome with `countersign action reconcile`'),
  operation: refused('the connector has no such operation', 'check the name of the operation', 400),
  no_worker: refused(
    'no worker that could run it is connected here',
    'start the worker, and run it at the server that it comes to',
    409,
    true,
  ),
  connector: refused('no such connector is configured', 'check the name of the connector', 400),
  class: refused('the class is below what the operation demands', 'ask for that class or a higher one', 400),
  approvers: refused('too few active people may approve this', 'name approvers whom a rule allows'),
  policy_denied: refused('policy denies it', 'see `countersign policy explain`', 403),
  policy_changed: refused(
    'the trust configuration changed since the proposal',
    'issue it again with `countersign action propose --like`',
  ),
  policy_error: refused('policy could not be evaluated, which denies', 'see `countersign policy check`', 403),
  binding_changed: refused('the stored action is not the one that was approved', 'run `countersign audit verify`'),
  stale_precondition: refused('the target changed since you looked', 'propose it again'),
  possible_duplicate: refused(
    'the same effect is running or has an unknown outcome',
    'issue it again, flagged, with `countersign action propose --like`',
  ),
  quorum: refused('approvals are still missing', 'ask the approvers that are named'),
  frozen: refused('this part of the gate is frozen', 'an operator lifts it with `countersign unfreeze`'),
  no_cover: refused('no standing approval covers this', 'ask a person: `countersign action request`'),
  too_many_pending: refused('this agent asks people for too much at once', 'wait until they have decided', 429),
  comments: refused('the action has as many comments as it takes', 'say it elsewhere', 429),
  expired: refused('the deadline has passed', 'propose it again'),
  late_result: refused('a later result contradicts the settled one', 'a person has to look at it'),
  dedupe: refused(
    'the operation can not be repeated safely',
    'check the outcome with `countersign action reconcile`, or run it again as a new action: `action replace`',
  ),
  replaced: refused('another action runs in its place', 'see `countersign action show`'),
  unrecorded: refused('the outcome could not be written down', 'run `countersign action recover`'),
  ledger_rolled_back: refused('the store misses what this gate has seen', 'restore it with `countersign restore`'),
  target_mismatch: refused(
    'the target differs from what the arguments say',
    'propose the target of the arguments',
    400,
  ),
  amount_mismatch: refused(
    'the amount differs from what the arguments say',
    'propose the amount of the arguments',
    400,
  ),
  secret_value: refused('a secret stands in the arguments in plain', 'name it as {"$secret":"NAME"}', 400),
  aborted: refused('the caller ended the call', 'look whether it arrived before you send it again', 499),
  busy: refused('other callers changed the same record first', 'try again', 503, true),
  // a package, by the words of its protocol
  INVALID_ENVELOPE: refused('the envelope is not well-formed', 'correct the named fields and send it again', 400),
  INVALID_PAYLOAD: refused('the payload breaks a rule of its action', 'correct the named field and send it again', 400),
  ILLEGAL_TRANSITION: refused(
    'the package is not in a state that allows this action',
    'see what it takes now with `countersign package prompt`',
  ),
  GATE_UNSATISFIED: refused(
    'what this action stands on is missing',
    'see what is missing with `countersign package prompt`',
  ),
  STALE_ACTION: refused(
    'the package changed since the envelope was written',
    'look again with `countersign package status`, and quote its revision',
  ),
  ACTION_ID_REUSE: refused('the action_id was used for another envelope', 'take a fresh action_id'),
  PACKAGE_NOT_FOUND: refused('no such package', 'check the id with `countersign package list`', 404),
  PACKAGE_EXISTS: refused('there is a package of this id with another intent', 'take another package_id'),
  MANIFEST_INVALID: refused('the stored manifest is not the one that was written', 'run `countersign audit verify`'),
  // a receipt, in the order of its checks
  format: refused('the receipt is not well-formed', 'sign the request again', 400),
  method_refused: refused('this way of signing is not allowed here', 'sign with an allowed method', 403),
  audience: refused('the receipt is for another ledger or epoch', 'sign a request of this ledger', 403),
  kind: refused('the receipt is of another kind', 'sign a request of the right kind', 403),
  unknown_request: refused('this gate did not issue the request', 'ask for a new request', 403),
  subject_mismatch: refused('the receipt is for another record', 'sign the request of this record', 403),
  digest_mismatch: refused('the receipt is for other content', 'sign a request of the present content', 403),
  binding_mismatch: refused('the receipt is for other conditions', 'sign a request of the present conditions', 403),
  summary_mismatch: refused('the receipt is for another summary', 'sign a request of the present summary', 403),
  decision: refused('the receipt carries another decision', 'sign the decision that you mean', 403),
  iat_future: refused('the request is dated in the future', 'check the clocks', 403),
  iat_past: refused('the request is older than its record', 'ask for a new request', 403),
  ttl: refused('the request lives longer than a day', 'ask for a new request', 403),
  unknown_approver: refused('no such person is registered', 'check the name of the approver', 403),
  unknown_authenticator: refused('no such key is registered', 'sign with a registered key', 403),
  revoked_authenticator: refused('the key was revoked', 'sign with an active key', 403),
  foreign_authenticator: refused('the key belongs to somebody else', 'sign with a key of the named approver', 403),
  approver_not_allowed: refused('this person may not approve this', 'ask an approver that is named', 403),
  self_approval: refused('nobody approves what they or their agent proposed', 'ask somebody else', 403),
  client_data: refused('what the browser signed for is not well-formed', 'sign the request again', 403),
  challenge_mismatch: refused('the signature is over another challenge', 'sign a fresh request', 403),
  origin: refused('the passkey was used on a page that the configuration does not name', 'sign on its own page', 403),
  rp_id_in_use: refused(
    'somebody has a passkey of the present domain',
    'keep the domain, or register software keys and revoke the passkeys first',
  ),
  rp_id_mismatch: refused('the passkey belongs to another domain', 'sign with a passkey of this domain', 403),
  user_presence: refused('the authenticator saw nobody', 'touch the authenticator when it asks', 403),
  user_verification: refused(
    'the authenticator did not verify its user',
    'sign with a fingerprint, a face or a PIN',
    403,
  ),
  bad_signature: refused('the signature does not verify', 'sign the request again', 403),
  replay: refused('the receipt was used already', 'ask for a new request', 409),
  // broken worlds
  store: {
    meaning: 'the store failed',
    next: 'see the cause with `COUNTERSIGN_LOG=debug`, then `countersign doctor`',
    http: 500,
    retry: true,
    exit: 70,
  },
  thread_key: {
    meaning: 'the key that signs the threads is missing or damaged: the ledger can only be read',
    next: 'put your copy of the key back, see `countersign doctor`',
    http: 500,
    retry: true,
    exit: 70,
  },
  corrupt: {
    meaning: 'the store does not verify',
    next: 'see what is damaged with `countersign audit verify`, and put a backup back: `countersign restore FILE`',
    http: 500,
    retry: false,
    exit: 70,
  },
  internal: {
    meaning: 'the gate failed',
    next: 'see the cause with `COUNTERSIGN_LOG=debug`',
    http: 500,
    retry: false,
    exit: 70,
  },
  usage: { meaning: 'the command was not understood', next: 'see --help', http: 400, retry: false, exit: 2 },
} as const satisfies Readonly<Record<string, CodeRow>>;

export type Code = keyof typeof CODES;

/** Small, harmless facts for a program: ids, counts, states. Never input. */
export type Details = Readonly<Record<string, string | number | boolean | readonly string[]>>;

interface ErrorExtras {
  /** JSON path or field name of the defect. */
  readonly path?: string;
  readonly details?: Details;
  /** What to do next, where the catalogue's own words are too general. */
  readonly next?: string;
}

/** The caller's request can't be granted; state is unchanged. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: Code;
  readonly path?: string;
  readonly details?: Details;
  readonly next: string;
  constructor(code: Code, message: string, extras: ErrorExtras = {}) {
    super(message);
    this.code = code;
    this.next = extras.next ?? CODES[code].next;
    if (extras.path !== undefined) this.path = extras.path;
    if (extras.details !== undefined) this.details = extras.details;
  }
}

/** Our side failed. `cause` is for the log of the gate and is never sent. */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly code: Code;
  readonly path?: string;
  readonly details?: Details;
  readonly next: string;
  constructor(code: Code, message: string, cause?: unknown, extras: ErrorExtras = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.next = extras.next ?? CODES[code].next;
    if (extras.path !== undefined) this.path = extras.path;
    if (extras.details !== undefined) this.details = extras.details;
  }
}

/** Thrown by a function behind the gate that certainly had no effect: the action fails instead of becoming unknown. */
export class NoEffect extends Error {
  override readonly name = 'NoEffect';
}

/**
 * Whether `value` is one of the two classes that may cross a public function. It never throws: what was thrown at us
 * may be a proxy that does not even let its class be asked for.
 */
export function isOurs(value: unknown): value is Refusal | Fault {
  try {
    return value instanceof Refusal || value instanceof Fault;
  } catch {
    return false;
  }
}

/** Codes of a file system that speak of the path it was given, not of the disk below. */
const PATH_CODES = new Set([
  ...['EACCES', 'EEXIST', 'EISDIR', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'EPERM', 'EROFS'],
  // A zero byte in the path.
  'ERR_INVALID_ARG_VALUE',
]);

/** Whether an error of the file system is the mistake of whoever named the path. */
export function isPathMistake(error: unknown): boolean {
  return error instanceof Error && 'code' in error && PATH_CODES.has(String(error.code));
}

/** The end of every `switch` over a closed union: reached only if the union grew and this place did not. */
export function assertNever(value: never): never {
  throw new Fault('internal', `unhandled case of type ${typeof value}`);
}

/** A condition that only our own mistake can break. */
export function assert(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Fault('internal', `broken invariant: ${what}`);
}
