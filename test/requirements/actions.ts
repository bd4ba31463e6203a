/** What the gate of actions promises. */
export const actionRequirements = {
  'actions.binding.fields': {
    source: 'actions',
    behaviour: 'the binding changes with each of its fields, and with nothing else',
  },
  'actions.cancel.own': { source: 'actions', behaviour: 'who asks takes back only its own' },
  'actions.connector.bounded': {
    source: 'actions',
    behaviour: 'a connector that does not answer before a launch is a fault, and nothing was written',
  },
  'actions.digest.nine-fields': {
    source: 'actions',
    behaviour: 'the digest covers exactly the nine fields of the source document',
  },
  'actions.digest.vectors': {
    source: 'actions',
    behaviour: 'the digests of actions are those of the published vectors',
  },
  'actions.effect.fields': {
    source: 'actions',
    behaviour: 'every field of the digest changes it; the effect ignores the id and the policy version',
  },
  'actions.invariants': {
    source: 'actions',
    behaviour: '300 random lives of a gate keep every invariant, in memory and on SQLite',
  },
  'actions.launch.class-floor': {
    source: 'actions',
    behaviour: 'between approval and launch nothing is called once the operation is of a higher class',
  },
  'actions.launch.deadline': {
    source: 'actions',
    behaviour: 'deadlines a launch leaves until its deadline and not at it',
  },
  'actions.launch.killed': { source: 'actions', behaviour: 'a gate that is killed knows each of its failpoints' },
  'actions.launch.never-called': {
    source: 'actions',
    behaviour: 'a pause before the call by a stopped process means no call',
  },
  'actions.launch.nth-fault': {
    source: 'actions',
    behaviour:
      'a store that fails at any commit of the way: no second effect, nothing half done, the next try or recover goes on',
  },
  'actions.launch.once': {
    source: 'actions',
    behaviour: 'one approved action is launched once by 64 callers of one process, and 63 are told why not',
  },
  'actions.launch.operation-pinned': {
    source: 'actions',
    behaviour: 'between approval and launch nothing is called once the code of the operation is another one',
  },
  'actions.launch.policy-again': {
    source: 'actions',
    behaviour:
      'between approval and launch nothing is called once policy denies, throws, says nothing or never answers',
  },
  'actions.launch.policy-changed': {
    source: 'actions',
    behaviour:
      'between approval and launch nothing is called once the trust configuration is another one, here or by another process',
  },
  'actions.launch.possible-duplicate': {
    source: 'actions',
    behaviour:
      'a possible duplicate that appears after the proposal stops its launch; proposed anew it is flagged and needs a person',
  },
  'actions.launch.preconditions': {
    source: 'actions',
    behaviour: 'between approval and launch nothing is called once a precondition no longer holds',
  },
  'actions.launch.quorum': {
    source: 'actions',
    behaviour: 'the audit of a ledger and the gate itself launches nothing on an approval without receipts',
  },
  'actions.launch.registry': {
    source: 'actions',
    behaviour: 'between approval and launch nothing is called once the approver is gone, or the key that signed',
  },
  'actions.launch.stored-bytes': {
    source: 'actions',
    behaviour: 'one changed byte in the store stops the launch, also in a gate that was opened after',
  },
  'actions.machine.allow': {
    source: 'actions',
    behaviour: 'approvals by policy are for what policy allows and nothing contradicts',
  },
  'actions.machine.approve-by': {
    source: 'actions',
    behaviour: 'deadlines an approval counts until its deadline and not at it',
  },
  'actions.machine.connector-late': {
    source: 'actions',
    behaviour: 'settlement of an unknown outcome by the connector is told as late',
  },
  'actions.machine.denied': {
    source: 'actions',
    behaviour: 'the machine of an action refuses a policy that denies, and one that could not be evaluated',
  },
  'actions.machine.expire': {
    source: 'actions',
    behaviour: 'deadlines a proposal expires at its deadline, an approval at its own',
  },
  'actions.machine.fresh-receipts': { source: 'actions', behaviour: 'approvals after a failure are fresh ones alone' },
  'actions.machine.interrupt': {
    source: 'actions',
    behaviour: 'a restore makes the outcome of every open action unknown, and none is launched before somebody looked',
  },
  'actions.machine.late-result': {
    source: 'actions',
    behaviour: 'settlement that contradicts a settled one stands beside it, once, and blocks every further launch',
  },
  'actions.machine.quorum': {
    source: 'actions',
    behaviour: 'approvals count people, each once, until the quorum is there',
  },
  'actions.machine.rebind': {
    source: 'actions',
    behaviour: 'approvals bind an approved action to the newest receipts, so that a void one stands in nobody’s way',
  },
  'actions.machine.reconcile-failed': {
    source: 'actions',
    behaviour: 'deadlines reconcile says failed at deadline and grace, not before; confirmed at once',
  },
  'actions.machine.recover': {
    source: 'actions',
    behaviour: 'deadlines a launch is recovered at deadline and grace, not before, and never called again',
  },
  'actions.machine.reserved': {
    source: 'actions',
    behaviour: 'the machine of an action refuses what is reserved from every state',
  },
  'actions.machine.settle-once': {
    source: 'actions',
    behaviour: 'settlement happens once, and the same word again changes nothing',
  },
  'actions.machine.table': {
    source: 'actions',
    behaviour: 'the machine of an action answers every command in every state',
  },
  'actions.machine.terminal': {
    source: 'actions',
    behaviour:
      'the machine of an action lets nothing out of confirmed and cancelled, and cancels nothing that runs or may have run',
  },
  'actions.propose.args-object': {
    source: 'actions',
    behaviour: 'a proposal with arguments that are no object never reaches policy',
  },
  'actions.propose.args-schema': {
    source: 'actions',
    behaviour: 'a proposal with arguments that the schema does not take, or that have no canonical form, is refused',
  },
  'actions.propose.args-size': {
    source: 'actions',
    behaviour: 'a proposal with more arguments than the bound is refused, counted in bytes',
  },
  'actions.propose.class-floor': {
    source: 'actions',
    behaviour: 'a proposal of whatever kind never has a class below that of the operation',
  },
  'actions.propose.closed': {
    source: 'actions',
    behaviour: 'a proposal is a closed form: what it says of its own approval is refused',
  },
  'actions.propose.facts': {
    source: 'actions',
    behaviour: 'a proposal with another target or amount than its arguments say is refused',
  },
  'actions.propose.idempotency': {
    source: 'actions',
    behaviour:
      'the same effect asked for twice under one idempotency key is one command: replayed, and refused for another',
  },
  'actions.propose.join': { source: 'actions', behaviour: 'the same effect asked for twice at once is one action' },
  'actions.propose.known': { source: 'actions', behaviour: 'a proposal names an operation that there is' },
  'actions.propose.like': {
    source: 'actions',
    behaviour: 'proposing like an earlier action asks for the same call under the present rules, with its content',
  },
  'actions.propose.not-expired': {
    source: 'actions',
    behaviour: 'the same effect asked for twice does not wait for one whose time is over',
  },
  'actions.propose.on-behalf': {
    source: 'actions',
    behaviour: 'who asks asks for others only where the door said that it may',
  },
  'actions.propose.possible-duplicate': {
    source: 'actions',
    behaviour: 'a possible duplicate is flagged at the proposal, and policy alone never allows it',
  },
  'actions.propose.secret': {
    source: 'actions',
    behaviour: 'a proposal with a secret in plain is refused, and one that is named is not',
  },
  'actions.propose.target': {
    source: 'actions',
    behaviour:
      'a proposal names what is plain: no control, invisible or unassigned character, no form that another spelling has',
  },
  'actions.reconcile.evidence': {
    source: 'actions',
    behaviour: 'the answer of a connector is asked for again by reconcile alone, and never twice by itself',
  },
  'actions.refusals.bounded': {
    source: 'actions',
    behaviour: 'a refusal is written in full a thousand times a day, and counted from then on',
  },
  'actions.refusals.no-change': { source: 'actions', behaviour: 'a refusal changes nothing of what was refused' },
  'actions.refusals.no-content': {
    source: 'actions',
    behaviour: 'a refusal is recorded with its code and without what was sent',
  },
  'actions.settle.late': {
    source: 'actions',
    behaviour:
      'the answer of a connector that does not come in time is unknown; its late word still settles its attempt',
  },
  'actions.settle.only-certain': {
    source: 'actions',
    behaviour: 'the answer of a connector that is an exception, or none, or no answer at all, is unknown',
  },
  'actions.settle.unrecorded': {
    source: 'actions',
    behaviour:
      'a store that fails at the settlement: unrecorded, the launch stays, recover finds it and reconcile establishes it',
  },
  'actions.summary.amount': {
    source: 'actions',
    behaviour: 'amounts are shown in major units by the exponent of their currency, and in minor ones',
  },
  'actions.summary.demo': { source: 'actions', behaviour: 'the ledger of a demonstration says so in its first line' },
  'actions.summary.every-field': {
    source: 'actions',
    behaviour: 'every field of digest and binding is a line of the summary',
  },
  'actions.summary.hidden': {
    source: 'actions',
    behaviour: 'a summary can be read back exactly, whatever its names and values are',
  },
  'actions.summary.own-lines': {
    source: 'actions',
    behaviour: 'an action with hostile values has the same lines, nothing raw and nothing cut',
  },
  'actions.summary.reversible': {
    source: 'actions',
    behaviour: 'a summary can be read back exactly, whatever its names and values are',
  },
  'actions.thread.entries': {
    source: 'actions',
    behaviour: 'the thread of a project has every step, request and refused launch of an action exactly once',
  },
  'actions.thread.redacted': {
    source: 'actions',
    behaviour: 'the thread of a project is redacted, and one line for each entry',
  },
  'actions.thread.words': { source: 'actions', behaviour: 'an entry of the thread says what happened in one line' },
} as const;
