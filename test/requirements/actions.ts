/**
 * What the gate promises of an action, one sentence each. A test that shows a promise cites its id with `verifies`.
 */
export const actionRequirements = {
  'actions.binding.fields': {
    source: 'actions',
    behaviour: 'the binding changes with each of its sixteen fields and with nothing else',
  },
  'actions.cancel.own': {
    source: 'actions',
    behaviour: 'an action is taken back by its proposer alone, with words within their bound',
  },
  'actions.connector.bounded': {
    source: 'actions',
    behaviour:
      'a connector that does not answer before a launch is a fault within a bounded time, and nothing was written',
  },
  'actions.digest.nine-fields': {
    source: 'actions',
    behaviour: 'the digest is SHA-256 under `ameesh-action/1` over exactly the nine fields of the source document',
  },
  'actions.digest.vectors': {
    source: 'actions',
    behaviour: 'digest, effect and binding are those of the published vectors',
  },
  'actions.effect.fields': {
    source: 'actions',
    behaviour: 'the effect of an action ignores its id and its policy version, and nothing else of its digest',
  },
  'actions.invariants': {
    source: 'actions',
    behaviour:
      'over random sequences with crashes: one effect, launched before, on a receipt used once, by legal steps, with the signed bytes',
  },
  'actions.launch.class-floor': {
    source: 'actions',
    behaviour: 'an operation that has become one of a higher class is not launched on an approval of the lower one',
  },
  'actions.launch.deadline': {
    source: 'actions',
    behaviour: 'a launch leaves before its deadline and not at it, judged inside the commit',
  },
  'actions.launch.indexed': {
    source: 'actions',
    behaviour: 'an action that is not found under its effect is not launched',
  },
  'actions.launch.killed': {
    source: 'actions',
    behaviour:
      'a process killed at any instruction leaves no launch and the nonce intact, or a launch whose outcome is established; never two calls',
  },
  'actions.launch.looked-again': {
    source: 'actions',
    behaviour: 'what changes between the last look and the commit is noticed inside the commit',
  },
  'actions.launch.never-called': {
    source: 'actions',
    behaviour:
      'more than two seconds after the commit, by either clock, no call leaves, and that is what is written down',
  },
  'actions.launch.nth-fault': {
    source: 'actions',
    behaviour: 'a store that fails at any commit of the way leaves no second effect and nothing half done',
  },
  'actions.launch.once': {
    source: 'actions',
    behaviour: 'of many callers, in one process or several, one launches and the others are refused with a code',
  },
  'actions.launch.one-commit': {
    source: 'actions',
    behaviour: 'a launch and the use of its nonces are one commit, or neither is',
  },
  'actions.launch.operation-pinned': {
    source: 'actions',
    behaviour: 'an operation whose code or connector is another one, or gone, is not launched',
  },
  'actions.launch.policy-again': {
    source: 'actions',
    behaviour: 'policy is asked again at the launch, and the stricter answer wins; no answer is a denial',
  },
  'actions.launch.policy-changed': {
    source: 'actions',
    behaviour:
      'nothing is launched under another trust configuration than that of its proposal, whichever process applied it',
  },
  'actions.launch.possible-duplicate': {
    source: 'actions',
    behaviour:
      'an action whose effect is running or may have happened under another one is not launched unless a person saw the flag',
  },
  'actions.launch.preconditions': {
    source: 'actions',
    behaviour: 'what was seen of the outside world at the proposal must still hold at the launch',
  },
  'actions.launch.quorum': {
    source: 'actions',
    behaviour: 'an approval without the receipts of its quorum launches nothing, whoever wrote it',
  },
  'actions.launch.registry': {
    source: 'actions',
    behaviour: 'a removed approver and a revoked key void what they approved, until it is launched',
  },
  'actions.launch.stored-bytes': {
    source: 'actions',
    behaviour: 'one changed byte in what is stored of an approved action, its request or its key stops the launch',
  },
  'actions.load.recomputed': {
    source: 'actions',
    behaviour: 'digest, effect and binding are recomputed from what is stored before every approval and launch',
  },
  'actions.machine.allow': {
    source: 'actions',
    behaviour: 'policy alone approves only what it allows, what is no duplicate, and what did not fail by a finding',
  },
  'actions.machine.approve-by': {
    source: 'actions',
    behaviour: 'an approval counts before its deadline and not at it',
  },
  'actions.machine.connector-late': {
    source: 'actions',
    behaviour: 'an answer that settles an unknown outcome is told as late',
  },
  'actions.machine.denied': {
    source: 'actions',
    behaviour: 'what policy denies, or can not judge, never becomes an action',
  },
  'actions.machine.expire': {
    source: 'actions',
    behaviour: 'a proposal and an approval expire at their deadlines, not before',
  },
  'actions.machine.every-attempt': {
    source: 'actions',
    behaviour: 'an action is failed only when none of its attempts may have had an effect; each is heard for itself',
  },
  'actions.machine.replaced': {
    source: 'actions',
    behaviour: 'what was replaced is never approved or launched again, whatever is found out of it',
  },
  'actions.machine.attempts-bounded': {
    source: 'reliability',
    behaviour: 'an action is launched a bounded number of times',
  },
  'actions.request.usable': {
    source: 'authority',
    behaviour: 'a request is issued only for an action that could still be launched',
  },
  'actions.launch.clock': {
    source: 'reliability',
    behaviour: 'a clock that stands more than five seconds before the log launches nothing',
  },
  'actions.launch.duplicate': {
    source: 'actions',
    behaviour: 'of equal actions that waited beside each other one has its effect, unless a person was shown the other',
  },
  'actions.approve.epoch': {
    source: 'authority',
    behaviour: 'what was proposed before a restore or a recovery is approved no more, by nobody and nothing',
  },
  'actions.effect.lost-time': {
    source: 'authority',
    behaviour:
      'what failed, and may have run again in the time that a restore took out of the log, is shown as a duplicate',
  },
  'actions.class.raised': {
    source: 'actions',
    behaviour:
      'an action that is raised to a higher class is denied, asked for and approved no more easily than before',
  },
  'actions.launch.confirmed-since': {
    source: 'actions',
    behaviour: 'what was signed as a possible duplicate is not launched once the other one is known to have happened',
  },
  'actions.launch.raced': {
    source: 'actions',
    behaviour: 'of callers who launch the same at once one launches, and the others hear that it runs',
  },
  'actions.comment': {
    source: 'doors',
    behaviour:
      'what is said about an action is kept beside it, bounded, and changes nothing that is signed or launched',
  },
  'actions.request.equal': {
    source: 'authority',
    behaviour: 'nobody is asked to sign for what could not be launched beside its equal',
  },
  'actions.join.launchable': {
    source: 'actions',
    behaviour: 'asking again joins nothing that could be approved and never launched',
  },
  'actions.like.approvers': {
    source: 'actions',
    behaviour: 'asking again keeps those approvers who may still approve, and adds none',
  },
  'actions.undo.once': {
    source: 'actions',
    behaviour: 'what an action did is undone once, whoever asks',
  },
  'actions.machine.fresh-receipts': {
    source: 'actions',
    behaviour: 'after a failure only receipts that were asked for since then count',
  },
  'actions.machine.interrupt': {
    source: 'actions',
    behaviour: 'a restore makes every open action unknown, and none of them is launched',
  },
  'actions.machine.late-result': {
    source: 'actions',
    behaviour: 'a word that contradicts the settled one is kept beside it, once, and blocks the action',
  },
  'actions.machine.quorum': {
    source: 'actions',
    behaviour: 'approvals count people, each once, until the quorum is there',
  },
  'actions.machine.rebind': { source: 'actions', behaviour: 'an approved action is bound to the newest receipts' },
  'actions.machine.reconcile-failed': {
    source: 'actions',
    behaviour: 'reconcile says failed only after deadline and grace',
  },
  'actions.machine.recover': {
    source: 'actions',
    behaviour: 'a launch that nobody answered for becomes unknown after deadline and grace, without a call',
  },
  'actions.machine.settle-once': {
    source: 'actions',
    behaviour: 'an attempt is settled once, and only one that there is',
  },
  'actions.machine.table': {
    source: 'actions',
    behaviour: 'every state answers every command by a transition or a named refusal',
  },
  'actions.machine.terminal': {
    source: 'actions',
    behaviour: 'confirmed and cancelled are terminal; launched and unknown are never cancelled',
  },
  'actions.propose.args-object': {
    source: 'actions',
    behaviour: 'arguments that are no plain object are refused before policy is asked',
  },
  'actions.propose.args-schema': {
    source: 'actions',
    behaviour:
      'arguments that the operation does not take, or that have no canonical form, are refused before policy is asked',
  },
  'actions.propose.args-size': {
    source: 'actions',
    behaviour: 'arguments hold at their bound of bytes and are refused beyond it',
  },
  'actions.propose.class-floor': {
    source: 'actions',
    behaviour: 'no input lowers the class below that of the operation',
  },
  'actions.propose.closed': {
    source: 'actions',
    behaviour: 'a proposal is a closed form: a field that claims an approval or a state is refused',
  },
  'actions.propose.facts': {
    source: 'actions',
    behaviour: 'a target or an amount that differs from what the arguments say is refused',
  },
  'actions.propose.idempotency': {
    source: 'actions',
    behaviour: 'one idempotency key is one command: repeated it has the same answer, for another one it is refused',
  },
  'actions.propose.join': {
    source: 'actions',
    behaviour: 'who proposes again what is open gets the same action; another principal gets its own',
  },
  'actions.propose.judged-anew': {
    source: 'actions',
    behaviour: 'a proposal is judged under the configuration that is active in its commit',
  },
  'actions.propose.known': { source: 'actions', behaviour: 'an unknown connector or operation is refused' },
  'actions.propose.like': {
    source: 'actions',
    behaviour: 'an action can be issued again with its content, and only as the same call',
  },
  'actions.propose.not-expired': {
    source: 'actions',
    behaviour: 'a proposal does not join an action whose time is over',
  },
  'actions.propose.on-behalf': {
    source: 'actions',
    behaviour: 'only a caller that the door allows it to names others on whose behalf it asks',
  },
  'actions.propose.possible-duplicate': {
    source: 'actions',
    behaviour:
      'the same effect running or unknown flags a proposal, which then needs a person; a read is never flagged',
  },
  'actions.propose.secret': {
    source: 'actions',
    behaviour: 'a secret in plain is refused, a named one is not, and what only looks random is flagged',
  },
  'actions.propose.told': {
    source: 'core, actions',
    behaviour:
      'of a proposal that is refused for its form the field is named, and what is wrong with it, without its value',
  },
  'actions.propose.target': {
    source: 'actions',
    behaviour:
      'names hold no control, invisible or unassigned character and are in NFC; a target beyond ASCII is flagged',
  },
  'actions.reconcile.evidence': {
    source: 'actions',
    behaviour: 'nothing leaves unknown but by certain evidence, and no attempt is repeated by itself',
  },
  'actions.refusals.bounded': {
    source: 'actions',
    behaviour: 'a thousand refusals of a principal and a day are recorded in full, further ones are counted',
  },
  'actions.refusals.no-change': {
    source: 'actions',
    behaviour: 'a refusal leaves no trace in the record that was refused',
  },
  'actions.refusals.no-content': {
    source: 'actions',
    behaviour: 'a refusal is recorded with its code and without anything that was sent',
  },
  'actions.settle.late': {
    source: 'actions',
    behaviour: 'an answer after the deadline is unknown first, and settles its own attempt when it comes',
  },
  'actions.settle.only-certain': {
    source: 'actions',
    behaviour: 'only a well-formed certain answer settles as confirmed or failed; everything else is unknown',
  },
  'actions.settle.unrecorded': {
    source: 'actions',
    behaviour: 'an outcome that can not be written stays launched, and recover finds it',
  },
  'actions.summary.amount': {
    source: 'actions',
    behaviour: 'an amount is shown in major units by the exponent of its currency, and in minor ones',
  },
  'actions.summary.demo': {
    source: 'actions',
    behaviour: 'the ledger of a demonstration says so in the first line of every summary',
  },
  'actions.summary.every-field': {
    source: 'actions',
    behaviour: 'every field of digest and binding is a line of the summary: another value, another summary',
  },
  'actions.summary.hidden': { source: 'actions', behaviour: 'no hidden character stands raw in a summary' },
  'actions.summary.own-lines': { source: 'actions', behaviour: 'no value makes a line of its own, and none is cut' },
  'actions.summary.reversible': {
    source: 'actions',
    behaviour: 'a summary can be read back exactly, and what no renderer wrote is not read',
  },
  'actions.thread.entries': {
    source: 'actions',
    behaviour: 'every transition, request and refused approval or launch is an entry of its project exactly once',
  },
  'actions.thread.redacted': { source: 'actions', behaviour: 'entries are redacted and one line each' },
  'actions.thread.words': { source: 'actions', behaviour: 'each kind of event has words of its own' },
  'actions.machine.interrupted': {
    source: 'authority',
    behaviour: 'after a restore no attempt that the store knows makes an action fail: another may have run since',
  },
  'actions.propose.outdated': {
    source: 'actions',
    behaviour: 'a proposal never joins an action whose preconditions no longer hold',
  },
  'actions.connector.copied': {
    source: 'actions',
    behaviour: 'what a connector answers is copied at once, and what is no plain data is refused before a launch',
  },
  'actions.flags.previously-denied': {
    source: 'actions',
    behaviour: 'the same effect asked for again after a denial is flagged, and needs a person',
  },
  'actions.launch.rendered-again': {
    source: 'actions',
    behaviour: 'a launch renders the summary again, and refuses where it is another one than was signed',
  },
  'actions.propose.args-read-only': {
    source: 'actions',
    behaviour: 'a connector is shown the arguments that are signed, and can not change them',
  },
  'actions.machine.finding': {
    source: 'actions',
    behaviour: 'a signed finding settles what is unknown or contradicted, and takes no confirmation back',
  },
  'actions.machine.retry-window': {
    source: 'actions',
    behaviour: 'an unknown action is launched again only while its operation knows a repeated call, by a whole quorum',
  },
  'actions.replace': {
    source: 'actions',
    behaviour: 'an effect with an unknown outcome runs again only as another action, flagged, approved by itself',
  },
  'actions.edit': {
    source: 'actions',
    behaviour: 'a changed action is a copy that names its editor and its changes, and supersedes the first one',
  },
  'actions.undo': {
    source: 'actions',
    behaviour: 'what would undo a confirmed action is proposed as an ordinary action',
  },
} as const;
