/**
 * What the HTTP API takes and answers: the gate's own documents as JSON. Pure. An answer may grow members; a body is
 * closed.
 * Source: spec doors (HTTP API).
 */
import * as z from 'zod';
import { LIMITS, PATTERNS } from '../core/index.js';

export const ActionId = z.string().regex(PATTERNS.action);
const Human = z.string().regex(PATTERNS.human);
const Words = z.string().max(LIMITS.wordsCharsMax);
const Lines = z.array(z.string());
const State = z.enum(['proposed', 'approved', 'launched', 'confirmed', 'failed', 'unknown', 'cancelled']);

/** An action to propose, as the library takes it; content comes in base64url. */
export const ProposalBody = z.strictObject({
  project: z.string(),
  work_item: z.string().optional(),
  connector: z.string(),
  operation: z.string(),
  target: z.string(),
  args: z.record(z.string(), z.json()).optional(),
  amount: z.int().optional(),
  currency: z.string().optional(),
  class: z.enum(['read', 'reversible', 'irreversible', 'costly']).optional(),
  approvers: z.array(z.string()).optional(),
  quorum: z.int().optional(),
  approve_within_ms: z.int().optional(),
  launch_within_ms: z.int().optional(),
  on_behalf_of: z.array(z.string()).optional(),
  content: z.array(z.string()).optional(),
});

export const LaunchQuery = z.strictObject({ launch: z.enum(['true', 'false']).optional() });

/** For people who are signed in: the agent that would ask. */
export const ExplainQuery = z.strictObject({ as: z.string().regex(PATTERNS.agent).optional() });

export const ListQuery = z.strictObject({
  project: z.string().optional(),
  /** Comma-separated. */
  states: z.string().optional(),
  limit: z
    .string()
    .regex(/^[1-9][0-9]{0,3}$/)
    .optional(),
  after: z.string().optional(),
});

export const DecisionsQuery = z.strictObject({
  for: Human.optional(),
  limit: z
    .string()
    .regex(/^[1-9][0-9]{0,3}$/)
    .optional(),
  after: z.string().max(300).optional(),
});
/** `more`: more waits, or may wait, behind these; the next page begins at `next`, also behind one that holds none. */
export const Inbox = z.object({
  rows: z.array(z.record(z.string(), z.json())),
  more: z.boolean(),
  next: z.string().optional(),
});
export const EventsQuery = z.strictObject({
  after: z
    .string()
    .regex(/^(?:0|[1-9][0-9]{0,15})$/)
    .optional(),
});
export const GrantQuery = z.strictObject({
  count: z.string().regex(/^[1-9][0-9]{0,3}$/),
  until: z.string().regex(/^[1-9][0-9]{0,15}$/),
});
export const PageQuery = z.strictObject({
  after: z
    .string()
    .regex(/^(?:0|[1-9][0-9]{0,15})$/)
    .optional(),
});

export const RequestBody = z.strictObject({
  approver: Human.optional(),
  decision: z.enum(['approve', 'deny']).optional(),
  ttl_ms: z.int().optional(),
});
export const ReceiptBody = z.strictObject({
  receipt: z.json(),
  words: Words.nullable().optional(),
  send_back: z.boolean().optional(),
});
export const SignedBody = z.strictObject({ receipt: z.json() });
export const WordsBody = z.strictObject({ words: Words.optional() });
export const CommentBody = z.strictObject({ text: z.string().min(1).max(LIMITS.wordsCharsMax) });
/** `text` is null once it was erased. */
export const Comment = z.object({ no: z.int(), by: z.string(), at: z.int(), text: z.string().nullable() });
export const Comments = z.object({ comments: z.array(Comment) });
/** `undo` is null where the operation left nothing that would undo it. */
export const Undoing = z.object({
  undo: z.object({ operation: z.string(), args: z.record(z.string(), z.json()) }).nullable(),
});
export const ActBody = z.strictObject({ act: z.json(), person: Human.optional() });
export const SessionActBody = z.strictObject({ act: z.json() });
export const ResolutionBody = z.strictObject({ resolution: z.json(), person: Human.optional() });
export const GrantBody = z.strictObject({ grant: z.json(), person: Human.optional() });

export const Health = z.object({ status: z.enum(['ok', 'failing']) });
export const Identity = z.object({
  ledger_id: z.string(),
  name: z.string(),
  epoch: z.int(),
  demo: z.boolean(),
  principal: z.string(),
  /** Of a person who is signed in: their roles, and the passkeys that they can sign with. */
  roles: z.array(z.string()).optional(),
  passkeys: z.array(z.object({ key_id: z.string(), credential: z.string() })).optional(),
  rp_id: z.string().optional(),
  frozen: z.array(z.record(z.string(), z.json())).optional(),
});
export const Asked = z.object({ action_id: ActionId, joined: z.boolean(), state: State });
export const Settled = z.object({
  action_id: ActionId,
  state: z.enum(['confirmed', 'failed', 'unknown']),
  attempt: z.int(),
  code: z.string().nullable(),
  external_ref: z.string().nullable(),
  evidence: z.json(),
});
export const Proposed = Asked.extend({ settled: Settled.optional() });
export const ListRow = z.object({
  id: z.string(),
  project: z.string().optional(),
  status: z.string().optional(),
  principal: z.string().optional(),
  due: z.int().optional(),
});
export const ActionPage = z.object({ rows: z.array(ListRow), next: z.string().optional() });
/** Whoever did not propose an action sees that there is one, how it stands, and its fingerprint. */
export const Action = z.union([
  /** `awaited`: whether somebody is known to wait for what becomes of it. */
  z.object({
    sees: z.literal('all'),
    action: z.record(z.string(), z.json()),
    args: z.string(),
    awaited: z.boolean(),
  }),
  z.object({ sees: z.literal('some'), action_id: ActionId, state: State, digest: z.string() }),
]);
export const Summary = z.object({ lines: Lines, preview: z.record(z.string(), z.json()).optional() });
export const Issued = z.object({ request: z.record(z.string(), z.json()), summary: Lines });
export const IssuedAct = Issued.extend({ also: z.array(z.record(z.string(), z.json())) });
export const IssuedGrant = z.object({ grant_id: z.string(), issued: IssuedAct });
export const RequestDetails = Issued.extend({ state: z.string(), preview: z.record(z.string(), z.json()).optional() });
export const Approved = z.object({
  action_id: ActionId,
  state: z.string(),
  approvals: z.int(),
  settled: Settled.optional(),
  refused: z.string().optional(),
});
/** `pending`: nobody signed yet. */
export const Fetched = z.union([z.object({ pending: z.literal(true) }), Approved]);
export const Receipts = z.object({
  receipts: z.array(z.record(z.string(), z.json())).max(LIMITS.receiptsFetchedMax),
});
export const Submitted = z.object({
  request_id: z.string(),
  action_id: z.string().optional(),
  missing: z.int().optional(),
  /** The confirmation of a package’s summary that it carried out. */
  applied: z.record(z.string(), z.json()).optional(),
});
export const Recovered = z.object({ unknown: z.array(z.string()), expired: z.array(z.string()) });
export const EditBody = z.strictObject({ args: z.record(z.string(), z.json()) });
export const Edited = z.object({ action_id: ActionId, changed_paths: z.array(z.string()) });
export const Done = z.object({ done: z.literal(true) });
export const Rows = z.object({ rows: z.array(z.record(z.string(), z.json())) });
export const Grant = z.object({ grant: z.record(z.string(), z.json()) });
export const Entries = z.object({ entries: z.array(z.json()), next: z.string().optional() });
export const Explained = z.record(z.string(), z.json());
export const Text = z.string();

const Base64url = z.string().regex(/^[A-Za-z0-9_-]{1,12000}$/);
const Roles = z.array(z.enum(['viewer', 'approver', 'operator', 'auditor'])).max(4);

/** What a browser needs to use or to make a passkey. */
export const Challenge = z.object({ challenge: z.string(), state: z.string(), expires: z.int(), rp_id: z.string() });
export const SignInBody = z.strictObject({
  state: z.string().max(2_048),
  credential: Base64url,
  proof: z.strictObject({ authenticator_data: Base64url, client_data: Base64url, signature: Base64url }),
});
export const SignedIn = z.object({ person: Human, roles: Roles, expires: z.int() });
export const SecretBody = z.strictObject({ secret: Base64url });
export const OpenedInvitation = Challenge.extend({
  person: Human,
  roles: Roles,
  ledger: z.object({ ledger_id: z.string(), name: z.string() }),
});
export const EnrolBody = z.strictObject({
  secret: Base64url,
  state: z.string().max(2_048),
  registration: z.strictObject({ attestation_object: Base64url, client_data: Base64url, credential: Base64url }),
});
export const Enrolled = z.object({ person: Human, code: z.string() });
export const InviteBody = z.strictObject({ person: Human, roles: Roles });
/** `link` carries the secret behind its `#`: it reaches no server and no log. */
export const Invited = z.object({ invitation_id: z.string(), link: z.string(), person: Human, expires: z.int() });
export const CodeBody = z.strictObject({ code: z.string().max(64) });
export const People = z.object({
  people: z.array(z.record(z.string(), z.json())),
  keys: z.array(z.record(z.string(), z.json())),
  tokens: z.array(z.record(z.string(), z.json())),
  pending: z.array(z.record(z.string(), z.json())),
});
export const Policy = z.object({ version: z.string(), config: z.record(z.string(), z.json()) });
export const AuditQuery = z.strictObject({
  after: z
    .string()
    .regex(/^(?:0|[1-9][0-9]{0,15})$/)
    .optional(),
});
/** The id of any record: an action, a person, a key, a token, a package … */
export const LogQuery = AuditQuery.extend({
  of: z
    .string()
    .regex(/^[!-~]{1,256}$/)
    .optional(),
});
const Since = { since: z.int(), at: z.int() };
export const Audit = z.discriminatedUnion('state', [
  z.object({ state: z.literal('none') }),
  z.object({ state: z.literal('running'), since: z.int() }),
  z.object({ state: z.literal('failed'), ...Since, code: z.string(), what: z.string() }),
  z.object({ state: z.literal('done'), ...Since, report: z.record(z.string(), z.json()) }),
]);
export const LogEntries = z.object({ entries: z.array(z.record(z.string(), z.json())) });

/** A name that a worker chose for itself. */
const WorkerName = z.string().regex(/^[A-Za-z0-9_-]{16,64}$/);
const WorkOffer = { action_id: ActionId, attempt: z.int().min(1), what: z.enum(['run', 'reconcile']) };

export const WorkerAskBody = z.strictObject({
  worker: WorkerName,
  operations: z
    .array(
      z.strictObject({
        name: z.string().regex(PATTERNS.operation),
        version: z.string().regex(/^[!-~]{1,64}$/),
        schema: z.json(),
      }),
    )
    .min(1)
    .max(LIMITS.workerOperationsMax),
  /** 0 for one that takes no more, and only says that it is there while it runs something. */
  at_once: z.int().min(0).max(LIMITS.workerCallsMax),
  wait_ms: z.int().min(0).max(LIMITS.workerWaitMsMax),
});
/** `offer` is absent where nothing came in the time of the wait. */
export const Offered = z.object({ offer: z.object(WorkOffer).optional() });
export const ClaimBody = z.strictObject({ worker: WorkerName, ...WorkOffer });
export const Claimed = z.object({
  ...WorkOffer,
  project: z.string(),
  operation: z.string(),
  target: z.string(),
  args: z.record(z.string(), z.json()),
  /** Exactly the bytes that were signed. */
  args_text: z.string(),
  amount: z.int().nullable(),
  currency: z.string().nullable(),
  deadline_in_ms: z.number(),
  idempotency_key: z.string(),
  /** Shown with the answer. */
  fence: z.string(),
});
export const WorkDoneBody = z.strictObject({
  fence: z.string().max(2_048),
  result: z.enum(['confirmed', 'failed', 'unknown']),
  code: z.string().regex(PATTERNS.outcomeCode).optional(),
  external_ref: z.string().max(1_024).optional(),
  evidence: z.json().optional(),
});
export const Recorded = z.object({ recorded: z.literal(true) });
