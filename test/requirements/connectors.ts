/**
 * What the connectors must do, by id. A test cites an id with `verifies`.
 */
export const connectorRequirements = {
  'connectors.contract.operations': {
    source: 'actions',
    behaviour: 'a connector lists its operations and knows no other; an unknown one is undefined',
  },
  'connectors.contract.digest': {
    source: 'actions, reliability T1',
    behaviour: 'an operation digest is stable, its own, and another one when the code changes',
  },
  'connectors.contract.classify': {
    source: 'actions, reliability T15',
    behaviour: 'class and facts are pure functions of valid arguments and never throw',
  },
  'connectors.contract.schema': {
    source: 'actions, reliability edge inputs',
    behaviour: 'arguments outside of the closed schema are refused',
  },
  'connectors.contract.summary': {
    source: 'actions',
    behaviour: 'the summary is deterministic and has every argument in full',
  },
  'connectors.contract.no-early-effect': {
    source: 'actions',
    behaviour: 'snapshot, preview and prepare have no effect; before any call reconcile finds none',
  },
  'connectors.contract.effect': {
    source: 'actions',
    behaviour: 'a launch has one effect, and reconcile finds it again',
  },
  'connectors.contract.dedupe': {
    source: 'actions, reliability I1',
    behaviour: 'calls under one key have one effect where the operation promises to deduplicate',
  },
  'connectors.contract.deadline': {
    source: 'actions',
    behaviour: 'nothing is begun after the deadline or once the call was called off',
  },
  'connectors.contract.check': {
    source: 'doors',
    behaviour: 'a connector that can work finds no problem in itself, and has no effect by looking',
  },
  'connectors.registry': {
    source: 'design',
    behaviour: 'a configuration opens what it names; anything else is refused',
  },
  'connectors.noop.classes': {
    source: 'actions',
    behaviour: 'each operation of shell-noop has its class for any arguments',
  },
  'connectors.noop.facts': { source: 'actions', behaviour: 'target and amount are derived from the arguments' },
  'connectors.noop.simulate': {
    source: 'actions',
    behaviour: 'fail has no effect; lose-response has the effect and no answer; hang has neither',
  },
  'connectors.noop.certain': {
    source: 'actions',
    behaviour: 'failed is said only where the file was not linked and will not be; an unreadable folder tells nothing',
  },
  'connectors.noop.once': { source: 'actions', behaviour: 'one whole file for an action, which the first call makes' },
  'connectors.noop.key': { source: 'actions', behaviour: 'only an action id names a file' },
  'connectors.git.merge': {
    source: 'actions',
    behaviour: 'a merge is always a new commit whose id prepare knew; a clean checked-out branch follows',
  },
  'connectors.git.write': {
    source: 'actions',
    behaviour: 'a write sets exactly one ordinary file to exactly the named content',
  },
  'connectors.git.content': { source: 'actions', behaviour: 'content is hashed again before it is used' },
  'connectors.git.conflicts': { source: 'actions', behaviour: 'what can not be merged is refused before the launch' },
  'connectors.git.preview': {
    source: 'actions',
    behaviour: 'the diff is made from the commits in the preconditions and has the digest that stands there',
  },
  'connectors.git.moved': {
    source: 'actions',
    behaviour: 'a branch that moved since is a stale precondition or a failed launch; the ref is compared and swapped',
  },
  'connectors.git.reconcile': {
    source: 'actions',
    behaviour: 'confirmed only by that commit in first-parent history; a rewritten branch tells nothing',
  },
  'connectors.git.dirty': {
    source: 'actions',
    behaviour: 'a checked-out branch with any change, also a hidden one, is refused; untracked files stay',
  },
  'connectors.git.lock': { source: 'actions', behaviour: 'locks of other git processes are respected' },
  'connectors.git.names': {
    source: 'actions, reliability T29',
    behaviour: 'branches that git could read in another way are refused; odd ones that it accepts work',
  },
  'connectors.git.path': { source: 'actions', behaviour: 'a path that leads elsewhere is refused' },
  'connectors.git.dot-git': { source: 'actions', behaviour: 'a path segment that stands for `.git` is refused' },
  'connectors.git.hostile-config': {
    source: 'actions',
    behaviour:
      'no configuration, hook, filter, driver, monitor, alias or submodule of the repository runs in any operation',
  },
  'connectors.git.objects': {
    source: 'actions',
    behaviour: 'objects are named by the gate’s own hashing; replacements, grafts and forgeries are not believed',
  },
  'connectors.git.unvouched': {
    source: 'actions',
    behaviour: 'linked folders, borrowed objects, symbolic branches and linked work trees are refused',
  },
  'connectors.git.killed': {
    source: 'actions, reliability harness',
    behaviour: 'killed at any step of a launch, the ref tells what became of it',
  },
  'connectors.git.certain': {
    source: 'actions',
    behaviour: 'failed is said only where nothing was swapped and nothing will be',
  },
  'connectors.git.work-tree-late': {
    source: 'actions',
    behaviour: 'a work tree that could not follow is left alone; the action is confirmed with a code that says so',
  },
  'connectors.git.race': { source: 'actions', behaviour: 'of launches at once on one branch one moves it' },
  'connectors.git.closed-process': {
    source: 'actions, reliability T29',
    behaviour: 'git runs by absolute path with a closed environment, settings and arguments, and no shell',
  },
  'connectors.git.bounded-process': { source: 'actions', behaviour: 'a run of git is bounded in time and output' },
  'connectors.gh.pins': {
    source: 'actions',
    behaviour: 'a merge is pinned to both repositories, both branches, the head commit and the diff',
  },
  'connectors.gh.outcomes': {
    source: 'actions',
    behaviour:
      'success, refusal by text, drop before, drop after the effect, hang, merge queue, closed: what the server says counts',
  },
  'connectors.gh.certain': {
    source: 'actions',
    behaviour: 'failed is said only where nothing was sent, or where the refusal of the server itself came back',
  },
  'connectors.gh.unreadable': {
    source: 'actions',
    behaviour: 'an answer that can not be read in full tells nothing, and nothing is sent on it',
  },
  'connectors.gh.stale': {
    source: 'actions',
    behaviour: 'nothing is sent for a pull request that is another one than was pinned',
  },
  'connectors.gh.names': {
    source: 'actions, reliability T29',
    behaviour: 'a target is `owner/repo#N` by the exact name of the repository, so that no rule about it is passed by',
  },
  'connectors.gh.closed-process': {
    source: 'actions, reliability T29',
    behaviour: 'gh runs by absolute path with a closed environment and arguments, and no shell; its token is its alone',
  },
  'connectors.http.request': {
    source: 'actions, reliability T31',
    behaviour: 'a call is exactly what was declared and given; its key is the action id at every attempt',
  },
  'connectors.http.facts': {
    source: 'actions',
    behaviour: 'target and amount are named arguments; without a target it is the address that is called',
  },
  'connectors.http.outcomes': {
    source: 'actions',
    behaviour: 'the operator’s table says which answers are certain; all others are unknown, redirects among them',
  },
  'connectors.http.reference': {
    source: 'actions',
    behaviour: 'where the answer should name the effect, one without a name confirms nothing',
  },
  'connectors.http.reconcile': {
    source: 'actions',
    behaviour: 'the declared GET and its own table tell what became of a call, or nothing',
  },
  'connectors.http.digest': {
    source: 'actions, reliability T1',
    behaviour: 'every member of an endpoint’s configuration is in the digest of its operation',
  },
  'connectors.http.path': {
    source: 'actions, reliability T29',
    behaviour: 'an argument stays in its place of an address: one segment, or one value of the query',
  },
  'connectors.http.config': {
    source: 'actions, reliability T25',
    behaviour: 'an endpoint that could mean something else than it says is refused, headers and facts among it',
  },
  'connectors.http.base': {
    source: 'reliability T25',
    behaviour:
      'the address of an endpoint has one spelling, and is of the open network unless the operator says otherwise',
  },
  'connectors.http.addresses': {
    source: 'reliability T25',
    behaviour:
      'every address of a name is looked at after what it carries inside was taken out; one bad one refuses all',
  },
  'connectors.http.rebinding': {
    source: 'reliability T25',
    behaviour: 'a name is resolved once, and the connection goes to the address that was looked at',
  },
  'connectors.http.never-sent': {
    source: 'actions',
    behaviour: 'where no connection stood in time, nothing was sent and the call certainly failed',
  },
  'connectors.http.no-answer': {
    source: 'actions, reliability T31',
    behaviour: 'reset, closed, malformed, cut, hanging: once a connection stood, what is no whole answer is unknown',
  },
  'connectors.http.tls': {
    source: 'reliability T25',
    behaviour: 'the other side proves its name before a byte of the request, whatever the environment says',
  },
  'connectors.http.bounded': {
    source: 'actions',
    behaviour: 'an answer is kept and read within bounds, and no connection stays open',
  },
  'connectors.http.evidence': {
    source: 'actions',
    behaviour: 'what is kept of an answer is its status and its text, or its length alone',
  },
  'connectors.http.secrets': {
    source: 'reliability T28',
    behaviour: 'a secret stands in no summary, evidence, reference, refusal or log, in whatever form it is repeated',
  },
  'connectors.http.gate': {
    source: 'actions, reliability T28',
    behaviour:
      'through the gate an endpoint is called once for a signature, and not at all while its secret is missing',
  },
  'connectors.gh.view': { source: 'actions', behaviour: 'a view reads a pull request, once' },
} as const;
