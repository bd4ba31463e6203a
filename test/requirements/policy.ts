/**
 * What policy must do, by id. A test cites an id with `verifies`.
 */
export const policyRequirements = {
  'policy.money': {
    source: 'authority',
    behaviour: 'money in a rule is read by the decimals of its currency; anything else is refused',
  },
  'policy.load.strict': {
    source: 'authority',
    behaviour: 'what is missing, unparsable or unknown in the rules is refused with its line',
  },
  'policy.load.cedar': {
    source: 'authority',
    behaviour:
      'a Cedar file stands beside the configuration, is its owner’s alone, and its text is part of the version',
  },
  'policy.check': {
    source: 'authority',
    behaviour: 'a policy that could fail for some operation, or is about none, is found before it is applied',
  },
  'policy.test-cases': {
    source: 'authority',
    behaviour: 'test cases are run against all rules together; a configuration whose own fail is not applied',
  },
  'policy.packs': {
    source: 'authority',
    behaviour: 'each rule pack is sound and passes its own tests, and `init` starts from it',
  },
  'policy.explain': {
    source: 'authority',
    behaviour: 'a decision is explained by rule, file, line and facts, and by the nearest rule and what it would need',
  },
  'policy.told': { source: 'authority', behaviour: 'an agent is told code, rule, reason and what to do next' },
  'policy.simulate': {
    source: 'authority',
    behaviour: 'a draft is tried on past actions, its bounds counted; a diff tells which decisions would be others',
  },
  'policy.class-rule': {
    source: 'authority',
    behaviour: 'a configuration without rules is decided by the class rule, byte for byte, without loading Cedar',
  },
  'policy.rules.order': {
    source: 'authority',
    behaviour: 'deny wins over ask, and ask over allow, in whatever order rules stand',
  },
  'policy.rules.text': {
    source: 'authority',
    behaviour: 'no text of a rule, such as its title or a pattern, ends the policy that it stands in',
  },
  'policy.active': {
    source: 'authority',
    behaviour: 'an applied configuration decides from then on in every gate, and what was proposed before is void',
  },
  'policy.rules.exact': {
    source: 'authority',
    behaviour: 'a rule covers exactly the actions that its conditions, told in words, cover',
  },
  'policy.rule.wide': {
    source: 'authority',
    behaviour: 'a pattern stays within a segment where a rule allows, and crosses slashes where it asks or denies',
  },
  'policy.rules.unknown': {
    source: 'authority, actions (facts)',
    behaviour: 'a target, an amount or an argument of which nothing is known never widens what runs without a person',
  },
  'policy.questions': {
    source: 'authority',
    behaviour: 'whether it may run without a person is asked only for classes that may',
  },
  'policy.otherwise': {
    source: 'authority',
    behaviour: 'where no rule matches the classes decide, or a person, or nobody, as the configuration says',
  },
  'policy.untrusted-text': {
    source: 'reliability T32',
    behaviour: 'text that the agent chose changes no decision',
  },
  'policy.errors.deny': {
    source: 'authority, reliability T18',
    behaviour: 'any evaluation error in any policy denies, where Cedar alone would skip the policy',
  },
  'policy.validated': {
    source: 'authority',
    behaviour: 'a policy that could fail for some arguments of an operation denies all of its actions',
  },
  'policy.trap': {
    source: 'authority',
    behaviour: 'a trap, a module that is not there and an answer of another form deny; a trapped instance is left',
  },
  'policy.timeout': { source: 'authority', behaviour: 'an evaluation that takes too long denies' },
  'policy.lazy': {
    source: 'design',
    behaviour: 'policies are parsed once for a configuration, and the sets that are kept are bounded',
  },
  'policy.encode.types': {
    source: 'authority',
    behaviour: 'arguments enter by the types of their schema: nulls dropped, fractions as decimals; the rest stays out',
  },
  'policy.encode.closed': {
    source: 'authority',
    behaviour: 'no argument becomes an entity or a function of Cedar, and none of another type enters',
  },
  'policy.budget.exact': {
    source: 'authority, reliability I5',
    behaviour: 'what is reserved and spent never passes a bound; no refusal and no proposal takes anything',
  },
  'policy.budget.race': {
    source: 'reliability T13',
    behaviour: 'four processes with 500 launches each race a budget of 300: exactly 300 run',
  },
  'policy.budget.postgres': { source: 'ledger', behaviour: 'bounds hold on PostgreSQL as they do elsewhere' },
  'policy.budget.over': {
    source: 'authority',
    behaviour:
      'beyond a bound a person is asked, or it is denied, as the rule says; a period that is over counts no more',
  },
  'policy.budget.settled': {
    source: 'authority, reliability T13',
    behaviour: 'confirmed spends, a certain failure gives back, unknown keeps; what happened after all is charged',
  },
  'policy.budget.covers': {
    source: 'authority, actions (facts)',
    behaviour: 'a budget covers no other currency, and no action of which the amount is not known',
  },
  'policy.version.checked': {
    source: 'authority',
    behaviour: 'a stored configuration that is not the one of its version is not used',
  },
  'policy.budget.audited': {
    source: 'ledger (verify), reliability I5',
    behaviour: 'the audit finds a launch beyond its bound, and one that took nothing of it',
  },
} as const;
