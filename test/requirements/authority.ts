/** What identity, policy and approvals promise. */
export const authorityRequirements = {
  'authority.acts.closed': { source: 'authority', behaviour: 'an act is a closed form' },
  'authority.acts.once': {
    source: 'authority',
    behaviour: 'an act is carried out once, for what was signed, in its own kind',
  },
  'authority.acts.operator': {
    source: 'authority',
    behaviour: 'the last operator alone signs acts: an approver can not',
  },
  'authority.acts.shown': {
    source: 'authority',
    behaviour: 'a configuration is shown against the one that it replaces, whatever who asks for it says',
  },
  'authority.bootstrap.once': {
    source: 'authority',
    behaviour: 'the first approver is confirmed once, by the code of this ledger and this key',
  },
  'authority.bootstrap.terminal': {
    source: 'authority',
    behaviour: 'the first approver of an ordinary ledger needs its terminal',
  },
  'authority.config.agents': {
    source: 'authority',
    behaviour: 'a configuration names the agents, also for a gate that is open',
  },
  'authority.config.apply': {
    source: 'authority',
    behaviour: 'a configuration is applied by a receipt, and voids what was proposed before',
  },
  'authority.config.base': {
    source: 'authority',
    behaviour: 'a configuration that changed in between is not applied over',
  },
  'authority.config.changes': {
    source: 'authority',
    behaviour: 'a configuration lists what changes by path, both values in full',
  },
  'authority.config.closed': {
    source: 'authority',
    behaviour: 'the trust configuration is a closed form, read strictly, with the line of every defect',
  },
  'authority.config.durations': {
    source: 'authority',
    behaviour: 'the trust configuration keeps its durations through the ledger',
  },
  'authority.config.openable': {
    source: 'authority',
    behaviour: 'a configuration whose connectors could not be opened is never asked for',
  },
  'authority.keys.admitted': {
    source: 'authority',
    behaviour: 'the signature of a receipt does not verify under a key that anybody can sign for',
  },
  'authority.keys.file': {
    source: 'authority',
    behaviour: 'a key in a file opens under its own passphrase alone, and shows a changed byte',
  },
  'authority.local-is-agent': {
    source: 'authority',
    behaviour: 'who asks is an agent that the configuration names, and never a person',
  },
  'authority.receipt.checks': { source: 'authority', behaviour: 'the checks of a receipt pass for a good one' },
  'authority.receipt.deadlines': {
    source: 'authority',
    behaviour: 'the checks of a receipt have their deadlines to the millisecond',
  },
  'authority.receipt.epoch': {
    source: 'authority',
    behaviour: 'the checks of a receipt refuse an earlier epoch, and a person who was removed or has no role',
  },
  'authority.receipt.format': {
    source: 'authority',
    behaviour: 'the form of a receipt is closed: nothing is missing, nothing is more, nothing is of another type',
  },
  'authority.receipt.hostile': {
    source: 'authority',
    behaviour:
      'the form of a receipt holds against 20,000 mutations: always a refusal, never an exception, never accepted',
  },
  'authority.receipt.in-time': {
    source: 'authority',
    behaviour: 'the checks of a receipt let a receipt that came in time count later',
  },
  'authority.receipt.order': {
    source: 'authority',
    behaviour: 'the checks of a receipt stand in the order of the specification: of two defects the first is told',
  },
  'authority.receipt.replay': {
    source: 'authority',
    behaviour: 'a receipt counts once, however often and wherever it is handed in',
  },
  'authority.receipt.role': {
    source: 'authority',
    behaviour: 'the checks of a receipt refuse an earlier epoch, and a person who was removed or has no role',
  },
  'authority.receipt.signature': {
    source: 'authority',
    behaviour: 'the signature of a receipt is over exactly the request, under the domain of its kind',
  },
  'authority.receipt.stripping': {
    source: 'authority',
    behaviour:
      'the form of a receipt has one signature, of the one method: dropped, emptied, doubled or renamed it is none',
  },
  'authority.registry.add-key': {
    source: 'authority',
    behaviour: 'a key of a new person is signed for by an operator; a further one by that person alone',
  },
  'authority.registry.last-operator': { source: 'authority', behaviour: 'the last operator stays, with a key' },
  'authority.registry.revoke': {
    source: 'authority',
    behaviour: 'a key that is revoked voids at once what it signed and nobody launched',
  },
  'authority.request.deny-approved': {
    source: 'authority',
    behaviour: 'a request can deny what is approved for as long as it can be launched',
  },
  'authority.request.usable': {
    source: 'authority',
    behaviour: 'a request is issued only for what can use it, to somebody who could, for a day at most',
  },
  'authority.rules.facts-unknown': {
    source: 'authority',
    behaviour: 'nobody may approve an action without facts under a rule with a target',
  },
  'authority.rules.narrow': {
    source: 'authority',
    behaviour: 'nobody may approve but whom the rule names, of those whom the proposer asks',
  },
  'authority.rules.nobody': {
    source: 'authority',
    behaviour: 'nobody may approve where no approver is confirmed, no rule stands, or no rule matches',
  },
  'authority.rules.separate': {
    source: 'authority',
    behaviour: 'nobody may approve what they own: the owner of an agent is not asked for it',
  },
  'authority.rules.software-key': {
    source: 'authority',
    behaviour: 'nobody may approve what is costly by a software key, unless the rule says so',
  },
  'authority.shown-is-signed': {
    source: 'authority',
    behaviour: 'an act shows its signer exactly what the request names',
  },
} as const;
