/**
 * What identity, policy and approvals promise, one sentence each. A test that shows a promise cites its id with `verifies`.
 */
export const authorityRequirements = {
  'authority.asked.feasible': {
    source: 'authority',
    behaviour: 'nobody is asked to sign, nor goes on being asked, for what could not be carried out',
  },
  'authority.registry.without-keys': {
    source: 'authority',
    behaviour: 'a key of somebody who holds none that can sign is signed for by operators',
  },
  'authority.deny.at-once': {
    source: 'actions',
    behaviour: 'a signed denial ends its action as soon as the gate has it, by whichever door it came',
  },
  'authority.acts.closed': { source: 'authority', behaviour: 'an act is a closed form' },
  'authority.acts.once': {
    source: 'authority',
    behaviour: 'an act is carried out once, by a receipt of its own kind, in time',
  },
  'authority.acts.told': {
    source: 'core, authority',
    behaviour: 'of an act that could not be signed the field is named, and what is wrong with it, without its value',
  },
  'authority.acts.feasible': {
    source: 'authority',
    behaviour: 'what could not be carried out is refused before anybody is asked to sign it, with what to do instead',
  },
  'authority.acts.operator': { source: 'authority', behaviour: 'acts are signed by an operator, not by any approver' },
  'authority.acts.shown': {
    source: 'authority',
    behaviour: 'a change of configuration is shown against the version that it replaces, whatever the asker says',
  },
  'authority.bootstrap.once': {
    source: 'authority',
    behaviour: 'the first approver is confirmed once, by the code of this ledger and this key',
  },
  'authority.bootstrap.terminal': {
    source: 'authority',
    behaviour: 'an ordinary ledger confirms its first approver at a terminal alone',
  },
  'authority.config.agents': {
    source: 'authority',
    behaviour: 'an agent that the configuration no longer names may ask for nothing, also through a gate that is open',
  },
  'authority.config.apply': {
    source: 'authority',
    behaviour:
      'a configuration becomes active by a receipt, and voids what was proposed before; deny and cancel remain',
  },
  'authority.config.base': {
    source: 'authority',
    behaviour: 'a configuration is not applied over one that came in between',
  },
  'authority.config.changes': {
    source: 'authority',
    behaviour: 'changes of a configuration are listed by path with both values in full',
  },
  'authority.config.closed': {
    source: 'authority',
    behaviour: 'a trust configuration is a closed form, read strictly, and each defect is told with its line',
  },
  'authority.config.durations': { source: 'authority', behaviour: 'durations of the configuration survive the ledger' },
  'authority.config.openable': {
    source: 'authority',
    behaviour: 'a configuration whose connectors could not be opened is never signed for',
  },
  'authority.keys.admitted': {
    source: 'authority',
    behaviour:
      'a key of small order is refused at registration, when its file is opened, and when a signature is verified',
  },
  'authority.keys.file': {
    source: 'authority',
    behaviour: 'a key file opens under its own passphrase alone, and a changed byte is noticed',
  },
  'authority.local-is-agent': {
    source: 'authority',
    behaviour: 'a local process is an agent that the configuration names, whatever it says',
  },
  'authority.receipt.checks': { source: 'authority', behaviour: 'each check of a receipt has its code' },
  'authority.receipt.deadlines': {
    source: 'authority',
    behaviour: 'the deadlines of a request hold to the millisecond',
  },
  'authority.receipt.epoch': { source: 'authority', behaviour: 'a receipt of an earlier epoch is void' },
  'authority.receipt.fetch': {
    source: 'authority',
    behaviour: 'signing stores a receipt and changes no action; one that can no longer count hides none that can',
  },
  'authority.receipt.format': {
    source: 'authority',
    behaviour: 'a receipt is a closed form: nothing missing, nothing more, nothing of another type',
  },
  'authority.receipt.hostile': {
    source: 'authority',
    behaviour: '20,000 mutations of a receipt: a refusal or the receipt itself, never an exception',
  },
  'authority.receipt.in-time': {
    source: 'authority',
    behaviour: 'a receipt that reached the gate in time counts later',
  },
  'authority.receipt.looked-again': {
    source: 'authority',
    behaviour: 'what changes between the check of a receipt and its commit is noticed inside the commit',
  },
  'authority.receipt.order': {
    source: 'authority',
    behaviour: 'the checks of a receipt stand in the order of the specification: of two defects the first is told',
  },
  'authority.receipt.replay': { source: 'authority', behaviour: 'a receipt counts once, for one action' },
  'authority.receipt.role': { source: 'authority', behaviour: 'who has not the role of an approver approves nothing' },
  'authority.receipt.signature': {
    source: 'authority',
    behaviour: 'a signature covers exactly the request, under the domain of its kind, by the key itself',
  },
  'authority.receipt.stripping': {
    source: 'authority',
    behaviour: 'a dropped, empty, doubled or renamed signature is no signature',
  },
  'authority.registry.add-key': {
    source: 'authority',
    behaviour:
      'a new person is signed for by an operator, a further key by its person alone, and a key gives no further role',
  },
  'authority.registry.last-operator': {
    source: 'authority',
    behaviour: 'the last operator and their last key stay, also when two changes come at once',
  },
  'authority.registry.revoke': {
    source: 'authority',
    behaviour: 'a revoked key voids at once what it signed and nobody launched; a fresh approval takes its place',
  },
  'authority.request.deny-approved': {
    source: 'authority',
    behaviour: 'what is approved can be denied for as long as it can be launched',
  },
  'authority.request.usable': {
    source: 'authority',
    behaviour: 'a request is issued only for a record that can use it, for a day at most',
  },
  'authority.rules.facts-unknown': {
    source: 'authority',
    behaviour: 'a rule with a target covers no action without facts',
  },
  'authority.rules.narrow': {
    source: 'authority',
    behaviour: 'a proposal narrows who may approve and never widens it',
  },
  'authority.rules.nobody': {
    source: 'authority',
    behaviour: 'no approver, no rule or no matching rule: nobody may approve',
  },
  'authority.rules.separate': {
    source: 'authority',
    behaviour: 'the owner of an agent does not approve what it proposes, where the rule says so',
  },
  'authority.rules.software-key': {
    source: 'authority',
    behaviour: 'a software key does not count for class costly unless the rule says so',
  },
  'authority.shown-is-signed': {
    source: 'authority',
    behaviour: 'what a signer is shown is exactly what the request names',
  },
  'authority.asks.capped': {
    source: 'authority',
    behaviour: 'an agent has no more actions waiting for people, and asks no more often within an hour, than it may',
  },
  'authority.deny.send-back': {
    source: 'authority',
    behaviour: 'a signed denial with words sends an action back, and its agent is told so',
  },
  'authority.freeze': {
    source: 'authority',
    behaviour: 'what is frozen is asked for, approved and launched by nobody; what ends or settles goes on',
  },
  'authority.quorum.distinct': {
    source: 'authority',
    behaviour: 'a quorum counts distinct people of the rule, never keys, and each again at the launch',
  },
  'authority.quorum.raised': {
    source: 'authority',
    behaviour: 'a proposal may ask for more approvals than the rule does, never for fewer',
  },
  'authority.registry.two-operators': {
    source: 'authority',
    behaviour: 'once there are two operators, both sign the same change of people and keys',
  },
  'authority.rules.groups': {
    source: 'authority',
    behaviour: 'a rule may name groups of people; one without active people is nobody',
  },
  'authority.standing.signers-stand': {
    source: 'authority',
    behaviour: 'a standing approval stands for people who could approve this very action now, by keys that still count',
  },
  'authority.standing.money': {
    source: 'authority',
    behaviour: 'a bound on money covers no action that names none, or another currency',
  },
  'authority.standing.found': {
    source: 'authority',
    behaviour: 'standing approvals that are over stand in the way of no other',
  },
  'authority.finding.somebody': {
    source: 'authority',
    behaviour: 'an unknown outcome never waits for people who are gone: the present rule, or operators, decide',
  },
  'authority.finding.methods': {
    source: 'authority',
    behaviour: 'a finding is signed in a way that counts for the class of its action',
  },
  'authority.acts.fresh-signers': {
    source: 'authority',
    behaviour: 'of two acts at once each is judged by the people, keys and rules that the other one left',
  },
  'authority.freeze.named': {
    source: 'authority',
    behaviour: 'what is frozen is named as actions name it; any other name is refused',
  },
  'authority.standing.bounds': {
    source: 'authority',
    behaviour: 'a standing approval covers exactly its project, agents, operations, targets, arguments and money',
  },
  'authority.standing.flagged': {
    source: 'authority',
    behaviour: 'a standing approval never covers what is flagged, replaces another action, or runs other code',
  },
  'authority.standing.reserved': {
    source: 'authority',
    behaviour:
      'a launch takes its part of a standing approval in its own commit; it is given back on a certain failure alone',
  },
  'authority.standing.signers': {
    source: 'authority',
    behaviour: 'a standing approval is signed by as many people as the strictest rule that it stands for',
  },
  'authority.standing.narrowest': {
    source: 'authority',
    behaviour: 'the standing approval that is offered for an action fits its kind and nothing wider',
  },
  'authority.rules.due': {
    source: 'authority',
    behaviour: 'a rule says when somebody should have decided, and who is told then; telling makes nobody an approver',
  },
  'authority.rules.launch': {
    source: 'authority',
    behaviour: 'a rule may launch with the last approval; what refuses the launch takes no approval back',
  },
} as const;
