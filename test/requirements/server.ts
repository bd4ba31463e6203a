/** Promises of the HTTP door and of those who come to it. */
import type { Requirement } from '../requirements.js';

export const serverRequirements = {
  'server.authenticated': {
    source: 'doors',
    behaviour: 'no route answers without credentials but health, and a name in a request is never a credential',
  },
  'server.body.told': {
    source: 'core, doors',
    behaviour:
      'a body that is not taken is answered with what is wrong: in JSON its line, column and path, else its field',
  },
  'server.cycle': { source: 'doors', behaviour: 'an action goes from its proposal to its effect over HTTP, once' },
  'server.head': { source: 'doors', behaviour: 'what is read can be asked for its head alone, under the same rules' },
  'server.idempotency': {
    source: 'doors',
    behaviour:
      'what is asked under one key is done once, and answered the same again, to the same caller alone; something else under it is refused',
  },
  'server.bounded': {
    source: 'doors',
    behaviour: 'what one caller has open is bounded, calls and streams apart; nobody shuts out another one, or health',
  },
  'server.refusals': { source: 'core', behaviour: 'what is refused at the door is counted with all other refusals' },
  'server.restore': {
    source: 'authority',
    behaviour: 'a restore that was signed at the door is accepted by the gate behind it, against what that remembers',
  },
  'server.upkeep': {
    source: 'actions',
    behaviour:
      'a server ends what is overdue by itself: a launch that nobody answered for, what was not decided in time',
  },
  'server.clock': {
    source: 'authority',
    behaviour: 'a clock that is set back lets in nobody whose token or session was over, nor after a restart',
  },
  'server.streams.end': {
    source: 'doors',
    behaviour:
      'a stream ends with its token and with its client, whatever stands in between, and leaves nothing behind',
  },
  'client.ends': {
    source: 'doors',
    behaviour: 'a call and a stream of the client end by its signal and its time, whatever happened to the memory',
  },
  'server.comments': {
    source: 'doors',
    behaviour: 'comments are read and made by the proposer of an action and by people, and by no other agent',
  },
  'server.audit': {
    source: 'doors',
    behaviour: 'an audit runs once at a time beside the server, begun by an auditor or an operator, told to people',
  },
  'server.explain.as': {
    source: 'doors',
    behaviour: 'a person has explained what an agent would be told; an agent asks for itself alone',
  },
  'server.read.scoped': {
    source: 'doors',
    behaviour:
      'what an action says goes to its proposer, within the scope of the token; others see id, state and digest, or nothing',
  },
  'server.launch.scoped': {
    source: 'authority',
    behaviour: 'nothing is launched by a token without `execute`, neither with a proposal nor behind an approval',
  },
  'server.strict': {
    source: 'doors',
    behaviour: 'bodies, queries and paths are read strictly and under limits; every defect is problem details',
  },
  'server.host': { source: 'doors', behaviour: 'a request under another host or from another origin is refused' },
  'server.described': {
    source: 'doors',
    behaviour: 'every route is in the OpenAPI document; metrics hold nothing that a caller chose',
  },
  'server.events': {
    source: 'doors',
    behaviour: 'the event stream tells what its caller sees, goes on where it left off, and ends with its token',
  },
  'server.enrolment': {
    source: 'authority',
    behaviour: 'a link makes one passkey, once; it counts when its code was typed and a receipt was signed for it',
  },
  'server.session.signed': {
    source: 'authority',
    behaviour: 'a gesture over a fresh challenge signs in, once, and no script reads the session',
  },
  'server.session.powerless': {
    source: 'authority',
    behaviour: 'being signed in proposes, launches and approves nothing; each of these takes what it always takes',
  },
  'server.traces': {
    source: 'doors',
    behaviour:
      'where a collector is named, spans go from a request into the call of a connector; elsewhere nothing is loaded or sent',
  },
  'app.traces.facts': {
    source: 'doors',
    behaviour:
      'a span tells verbs, ids, states and codes that are short words, and no argument, target, word or secret',
  },
  'server.packages': {
    source: 'packages',
    behaviour: 'a package goes from its intent to its draft over HTTP, by the same envelopes as at every door',
  },
  'server.session.brake': {
    source: 'authority',
    behaviour:
      'a session alone freezes, and takes an own key or standing approval back, which is told as by a session; nothing else',
  },
  'server.session.own-page': { source: 'doors', behaviour: 'a page of somebody else makes nobody’s browser act here' },
  'server.session.ends': {
    source: 'authority',
    behaviour: 'a session ends with its key, its person, the epoch, or time',
  },
  'server.bootstrap.terminal': {
    source: 'authority',
    behaviour: 'the first approver is confirmed at the terminal of the store’s owner, by passkey as by software key',
  },
  'server.loopback': { source: 'doors', behaviour: 'both loopback families are bound, or nothing is served' },
  'server.loopback.redirect': {
    source: 'doors',
    behaviour:
      'a page that is asked for by a loopback number leads to the same page under localhost, and nothing else does',
  },
  'server.drain': { source: 'doors', behaviour: 'a server that ends lets what runs settle and takes nothing more' },
  'client.border': {
    source: 'doors',
    behaviour: 'what is handed to the client is read once and strictly; nothing but a refusal or a fault leaves it',
  },
  'client.plain': { source: 'doors', behaviour: 'the client sends no token in plain to anything but this machine' },
  'client.aborted': {
    source: 'doors',
    behaviour: 'a call that its caller ended is told as that, one without answer as busy',
  },
  'authority.token.scope': { source: 'authority', behaviour: 'a token does what its scope covers, and nothing else' },
  'authority.token.ends': {
    source: 'authority',
    behaviour: 'a token that is over, revoked or wrong lets nobody in; the ledger keeps its hash alone',
  },
  'authority.token.rotated': {
    source: 'authority',
    behaviour:
      'a token is replaced by another one of the same agent and scope, as its signer is shown, and both are good for a while',
  },
} as const satisfies Readonly<Record<string, Requirement>>;
