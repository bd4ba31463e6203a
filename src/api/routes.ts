/**
 * Every route of the HTTP API. Pure. A row and a handler of the same name are all that a route is.
 * Source: spec doors (HTTP API).
 */
import * as A from './answers.js';
import { PACKAGE_ROUTES } from './package-routes.js';
import { get, post, type Route } from './route.js';

const open = <const Path extends string, const Rest extends Omit<Route, 'method' | 'path' | 'audience'>>(
  path: Path,
  rest: Rest,
) => ({ method: 'POST', path, ...rest, audience: 'public' }) as const;

const forPeople = <const Row extends Omit<Route, 'audience'>>(route: Row) =>
  ({ ...route, audience: 'person' }) as Omit<Row, 'audience'> & { readonly audience: 'person' };

export const ROUTES = {
  health: { ...get('/healthz', { does: 'whether the process answers', answer: A.Health }), audience: 'public' },
  ready: { ...get('/readyz', { does: 'whether the store answers', answer: A.Health }), audience: 'public' },
  openapi: get('/v1/openapi.json', { does: 'this API as an OpenAPI 3.1 document', answer: A.Explained }),
  metrics: get('/metrics', { does: 'counters and gauges for Prometheus', answer: A.Text }),
  identity: get('/v1/identity', { does: 'which ledger this is, and who asks', answer: A.Identity }),
  list: get('/v1/actions', { does: 'actions, a page at a time', query: A.ListQuery, answer: A.ActionPage }),
  propose: post('/v1/actions', {
    does: 'proposes an action; with `launch=true` it runs at once where policy allows it',
    query: A.LaunchQuery,
    body: A.ProposalBody,
    answer: A.Proposed,
    key: 'ledger',
  }),
  explain: post('/v1/actions/explain', {
    does: 'what would be decided, and who could approve; nothing is written',
    query: A.ExplainQuery,
    body: A.ProposalBody,
    answer: A.Explained,
  }),
  show: get('/v1/actions/{action_id}', { does: 'an action, as far as the caller may see it', answer: A.Action }),
  summary: get('/v1/actions/{action_id}/summary', { does: 'the text that a person signs', answer: A.Summary }),
  like: post('/v1/actions/{action_id}/like', { does: 'proposes the same again', answer: A.Asked, key: 'ledger' }),
  undo: post('/v1/actions/{action_id}/undo', { does: 'proposes what would undo it', answer: A.Asked }),
  undoing: get('/v1/actions/{action_id}/undo', {
    does: 'what would undo it, as its connector left it',
    answer: A.Undoing,
  }),
  request: post('/v1/actions/{action_id}/requests', {
    does: 'asks a person to approve or deny',
    body: A.RequestBody,
    answer: A.Issued,
  }),
  approve: post('/v1/actions/{action_id}/approve', {
    does: 'lets a signed receipt count',
    body: A.ReceiptBody,
    answer: A.Approved,
  }),
  cover: post('/v1/actions/{action_id}/cover', {
    does: 'approves it by a standing approval',
    answer: A.Approved,
  }),
  fetchReceipt: post('/v1/actions/{action_id}/fetch-receipt', {
    does: 'attaches the receipts that people signed',
    answer: A.Fetched,
  }),
  execute: post('/v1/actions/{action_id}/execute', { does: 'launches it, once', answer: A.Settled }),
  retry: post('/v1/actions/{action_id}/retry', { does: 'launches an unknown action again', answer: A.Settled }),
  reconcile: post('/v1/actions/{action_id}/reconcile', {
    does: 'asks the connector what became of it',
    answer: A.Settled,
  }),
  comments: get('/v1/actions/{action_id}/comments', {
    does: 'what people and the proposer said about it',
    answer: A.Comments,
  }),
  comment: post('/v1/actions/{action_id}/comments', {
    does: 'says something about it, to whoever reads it',
    body: A.CommentBody,
    answer: A.Comment,
  }),
  cancel: post('/v1/actions/{action_id}/cancel', { does: 'takes it back', body: A.WordsBody, answer: A.Done }),
  recover: post('/v1/recover', { does: 'ends what nobody will end; calls nothing', answer: A.Recovered }),
  requestDetails: get('/v1/requests/{request_id}', {
    does: 'a request, with the lines that its signer has to see; for whoever asked for it, and for people',
    answer: A.RequestDetails,
  }),
  receipt: get('/v1/actions/{action_id}/receipt', {
    does: 'the receipt that approves an action',
    answer: A.Explained,
  }),
  receipts: get('/v1/actions/{action_id}/receipts', {
    does: 'what people signed for the action and nobody has attached yet',
    answer: A.Receipts,
  }),
  submit: post('/v1/receipts', { does: 'hands a signed receipt in', body: A.SignedBody, answer: A.Submitted }),
  requestAct: post('/v1/acts', { does: 'asks people for an act', body: A.ActBody, answer: A.IssuedAct }),
  requestResolution: post('/v1/resolutions', {
    does: 'asks a person to establish an unknown outcome, or to let it run again',
    body: A.ResolutionBody,
    answer: A.Issued,
  }),
  decisions: get('/v1/decisions', {
    does: 'what waits for people, most urgent first, a page at a time: of 100 unless `limit` says otherwise',
    query: A.DecisionsQuery,
    answer: A.Inbox,
  }),
  grants: get('/v1/grants', {
    does: 'standing approvals, and what is left of them; of others’ id and state',
    answer: A.Rows,
  }),
  requestStanding: post('/v1/grants', {
    does: 'asks people for a standing approval',
    body: A.GrantBody,
    answer: A.IssuedGrant,
  }),
  narrowestGrant: get('/v1/actions/{action_id}/narrowest-grant', {
    does: 'the narrowest standing approval that an action fits',
    query: A.GrantQuery,
    answer: A.Grant,
  }),
  thread: forPeople(
    get('/v1/threads/{thread}', { does: 'entries of a thread', query: A.PageQuery, answer: A.Entries }),
  ),
  events: get('/v1/events', {
    does: 'what happens to the actions that the caller sees, as server-sent events',
    query: A.EventsQuery,
    answer: A.Text,
  }),
  workNext: post('/v1/work/next', {
    does: 'waits for a launch that a worker with these operations could claim',
    body: A.WorkerAskBody,
    answer: A.Offered,
    key: 'none',
  }),
  workClaim: post('/v1/work/claim', {
    does: 'gives a launched call to the first worker that claims it in its time',
    body: A.ClaimBody,
    answer: A.Claimed,
    key: 'none',
  }),
  workDone: post('/v1/work/done', {
    does: 'tells what became of a call that was claimed',
    body: A.WorkDoneBody,
    answer: A.Recorded,
    key: 'none',
  }),
  signInOptions: open('/v1/session/options', { does: 'a challenge to sign in with', answer: A.Challenge }),
  signIn: open('/v1/session', { does: 'signs somebody in by a passkey', body: A.SignInBody, answer: A.SignedIn }),
  signOut: forPeople(post('/v1/session/end', { does: 'ends a session in this browser', answer: A.Done, key: 'none' })),
  openInvitation: open('/v1/invitations/open', {
    does: 'opens a link to make a passkey, once',
    body: A.SecretBody,
    answer: A.OpenedInvitation,
  }),
  enrol: open('/v1/invitations/enrol', {
    does: 'keeps the passkey that was made behind a link',
    body: A.EnrolBody,
    answer: A.Enrolled,
  }),
  invite: forPeople(
    post('/v1/invitations', {
      does: 'a link by which somebody makes a passkey',
      body: A.InviteBody,
      answer: A.Invited,
    }),
  ),
  confirmKey: forPeople(
    post('/v1/invitations/{invitation_id}/confirm', {
      does: 'asks operators to sign for a passkey whose code was typed',
      body: A.CodeBody,
      answer: A.IssuedAct,
    }),
  ),
  sessionAct: forPeople(
    post('/v1/session/acts', {
      does: 'freezes, or takes an own key or standing approval back, without a signature',
      body: A.SessionActBody,
      answer: A.Done,
    }),
  ),
  ...PACKAGE_ROUTES,
  edit: forPeople(
    post('/v1/actions/{action_id}/edit', {
      does: 'a changed copy of an action, which needs its own approval',
      body: A.EditBody,
      answer: A.Edited,
    }),
  ),
  people: forPeople(get('/v1/people', { does: 'people, keys, tokens, and passkeys that wait', answer: A.People })),
  policy: forPeople(get('/v1/policy', { does: 'the active trust configuration', answer: A.Policy })),
  log: forPeople(
    get('/v1/log', {
      does: 'the log, a page at a time; with `of`, what happened to the records of that id',
      query: A.LogQuery,
      answer: A.LogEntries,
    }),
  ),
  audit: forPeople(get('/v1/audit', { does: 'what the last audit of the whole ledger found', answer: A.Audit })),
  beginAudit: forPeople(post('/v1/audit', { does: 'verifies the whole ledger, one run at a time', answer: A.Audit })),
} as const satisfies Readonly<Record<string, Route>>;

export type RouteName = keyof typeof ROUTES;
