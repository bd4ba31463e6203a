/**
 * What the gate as a whole promises, and its audit, one sentence each. A test that shows a promise cites its id with `verifies`.
 */
export const appRequirements = {
  'app.backup': {
    source: 'ledger',
    behaviour: 'a backup is a whole verified store, replaces nothing, and is put back only for its own ledger',
  },
  'app.decisions': {
    source: 'actions',
    behaviour: 'what waits for a person is listed with what to do next, and nothing that is done or has expired',
  },
  'app.gate.close': {
    source: 'ledger',
    behaviour: 'a gate that is closed takes no more, and closes its ledger whatever else fails',
  },
  'app.home.location': {
    source: 'authority',
    behaviour: 'the home of a gate lies in no repository or work tree, and nobody but its owner may write it',
  },
  'app.home.order': {
    source: 'authority',
    behaviour: 'a home is where it is told, else where the environment says, else below the user configuration',
  },
  'app.init.once': {
    source: 'authority',
    behaviour: 'a home holds one ledger, made once, of a configuration that can be opened',
  },
  'app.seen.running': {
    source: 'authority',
    behaviour: 'what a gate has seen is never written over while it works by what misses it',
  },
  'app.init.interrupted': {
    source: 'authority',
    behaviour: 'an init that was killed at any moment is begun again by the next one, or is done',
  },
  'app.restore.empty': {
    source: 'ledger',
    behaviour: 'a store that lost its content is said to be gone, and a backup can be put back as the message says',
  },
  'app.restore.epoch': {
    source: 'authority',
    behaviour:
      'a restore raises the epoch above every one that the store or the gate had, so that nothing void counts again',
  },
  'app.inbox.moot': {
    source: 'actions, authority',
    behaviour:
      'a request that could not be carried out any more, or is of an earlier epoch, is listed and told to nobody',
  },
  'app.epoch.shown': {
    source: 'authority',
    behaviour: 'tokens and standing approvals of an earlier epoch are shown as void',
  },
  'app.init.clean': {
    source: 'authority',
    behaviour: 'a home that could not be finished leaves no file behind, and touches none that was there',
  },
  'app.restore.shown': {
    source: 'authority',
    behaviour: 'a restore is shown against what this gate remembers, and accepts a log that the store has',
  },
  'app.restore.voids': {
    source: 'authority',
    behaviour: 'a restore raises the epoch, voids requests and receipts, and makes every open action unknown',
  },
  'app.seen.barrier': {
    source: 'authority',
    behaviour: 'a store that misses what the gate has seen launches nothing until a person accepts it',
  },
  'app.seen.damaged': {
    source: 'authority',
    behaviour: 'a damaged memory of the ledger is a barrier as well, and can be restored',
  },
  'app.border.refusals': {
    source: 'core, doors',
    behaviour: 'whatever a program hands to a method of the gate, nothing but a refusal in fixed words comes out of it',
  },
  'app.border.library': {
    source: 'core, doors',
    behaviour: 'the other functions of the library that take a value, an id or a path answer a hostile one alike',
  },
  'app.border.answers': {
    source: 'actions',
    behaviour: 'what a tool throws or answers that can not be kept is an unknown outcome, and leaves no launch open',
  },
  'app.border.once': {
    source: 'doors',
    behaviour: 'what is handed over is read once and copied: what it becomes afterwards changes nothing',
  },
  'app.tool.closed': { source: 'doors', behaviour: 'a tool tells when it was denied, taken back or too late' },
  'app.tool.definition': { source: 'doors', behaviour: 'the definition of a tool is checked where it is made' },
  'app.tool.frozen-args': {
    source: 'doors',
    behaviour: 'a tool gets a frozen copy of exactly the stored bytes, the output of its schema',
  },
  'app.tool.idempotency': {
    source: 'doors',
    behaviour: 'a tool runs once under one idempotency key, and once at the same time',
  },
  'app.tool.no-effect': {
    source: 'doors',
    behaviour: 'a throw is unknown unless the function itself said that there was no effect',
  },
  'app.tool.one-commit': {
    source: 'actions',
    behaviour: 'what policy allows is proposed, approved and launched in one commit',
  },
  'app.tool.own': { source: 'doors', behaviour: 'a tool goes on with its own actions alone' },
  'app.tool.pending': {
    source: 'doors',
    behaviour: 'a tool is irreversible unless it says less, and goes on once it is approved',
  },
  'app.tool.preview': { source: 'doors', behaviour: 'a tool shows its own view to the person' },
  'app.tool.reconcile': { source: 'doors', behaviour: 'a tool can say later what became of a call' },
  'app.tool.undo': { source: 'doors', behaviour: 'how to undo what a tool did is kept as evidence' },
  'app.tool.version': { source: 'doors', behaviour: 'a held action is run by an equal version of its tool alone' },
  'audit.clean': { source: 'ledger', behaviour: 'the audit finds nothing in a ledger that the gate wrote' },
  'audit.every-byte': {
    source: 'ledger',
    behaviour: 'the audit finds a changed byte also where nothing is decided by it',
  },
  'app.tool.once': {
    source: 'doors',
    behaviour: 'a tool that was defined stays what it is: no other definition takes its name',
  },
  'app.inbox.late': {
    source: 'actions',
    behaviour: 'a later word that contradicts is in the inbox, in whatever state its action is by then',
  },
  'app.inbox.awaited': {
    source: 'actions',
    behaviour: 'the inbox says of an approval that somebody waits for it, as long as they do',
  },
  'audit.gone': {
    source: 'ledger',
    behaviour: 'a content that is gone without a word is found, and a doctor goes on behind it',
  },
  'audit.comment': {
    source: 'ledger',
    behaviour: 'a comment about no action, or in the voice of somebody else, is found',
  },
  'audit.resolution-authority': {
    source: 'ledger',
    behaviour: 'an outcome that a person established, and a change of people by too few operators, are found unsigned',
  },
  'audit.launch-authority': {
    source: 'ledger',
    behaviour: 'a launch without its receipts, nonces, keys, people, policy or time is found',
  },
  'audit.decided-again': {
    source: 'ledger',
    behaviour: 'an event that the gate would not have written over the log before it is found, whoever hashed it',
  },
  'audit.approvals': {
    source: 'ledger',
    behaviour: 'an approval that nothing stands behind is found before it is used',
  },
  'audit.denial-told': { source: 'ledger', behaviour: 'a signed denial that is told in other words is found' },
  'audit.equals-shown': { source: 'ledger', behaviour: 'a proposal that hides its equals from who signs it is found' },
  'audit.legal-steps': { source: 'ledger', behaviour: 'a step that an action can not take is found' },
  'audit.receipts': { source: 'ledger', behaviour: 'a receipt that was no good at its place in the log is found' },
  'audit.registry-authority': {
    source: 'ledger',
    behaviour: 'people, keys, configuration and epochs that nobody signed for are found',
  },
  'app.seen.unreadable': {
    source: 'authority',
    behaviour: 'a memory that may not be read is told as that, with the way to keep it: no restore is asked for',
  },
  'app.home.absolute': {
    source: 'authority',
    behaviour: 'where the folder of the user is no absolute path, no home is made in the working folder',
  },
  'app.home.links': {
    source: 'authority',
    behaviour:
      'a home in a repository is refused by the names of both, and a link from a home into a repository as well',
  },
  'app.seen.missing': {
    source: 'authority',
    behaviour: 'a gate that remembers nothing of its ledger launches nothing until a person accepts the store',
  },
  'app.inbox.first-page': {
    source: 'actions',
    behaviour:
      'the first page of an inbox reads as much as it shows, however much waits behind it, and says that there is more',
  },
  'app.inbox.pages': {
    source: 'actions, doors',
    behaviour:
      'an inbox is told by pages, everything that waits once, each page going on from a place without what stands before it',
  },
  'app.inbox.bounded': {
    source: 'actions, doors',
    behaviour:
      'a page looks at a bounded number of rows, however few of them are for somebody, and names where to look on',
  },
  'app.inbox.expired': {
    source: 'actions',
    behaviour: 'requests that nobody signed in time expire, and hide nothing that waits behind them',
  },
  'app.inbox.quorum': {
    source: 'actions, authority',
    behaviour: 'an act is listed with how many people have to sign it, and how many have',
  },
  'app.inbox.late-result': {
    source: 'actions',
    behaviour: 'a result that contradicts is listed with the finding that settles it',
  },
  'app.inbox.outdated': {
    source: 'actions, authority',
    behaviour: 'what was asked under another configuration is listed with the way to ask again',
  },
  'app.tool.elsewhere': {
    source: 'doors',
    behaviour:
      'what a tool asks for is read and signed in any process, and run only where the function renders the same lines',
  },
  'app.border.ids': { source: 'core', behaviour: 'an id of another form is the id of nothing, on every store' },
  'app.log.own': {
    source: 'core',
    behaviour: 'what a log of the program’s own throws changes nothing of what is answered',
  },
  'app.log.silent': { source: 'doors', behaviour: 'the log is silent unless somebody asks for it, and tells no more' },
  'app.log.causes': { source: 'core', behaviour: 'a fault is logged once, with every cause behind it' },
  'app.log.safe': {
    source: 'core, reliability I10',
    behaviour: 'a line of the log is bounded ASCII without secrets, and writing one never throws',
  },
  'app.log.gate': {
    source: 'core',
    behaviour: 'the cause of a fault of the gate is logged and not sent; a refusal is logged only for who searches',
  },
  'app.log.outcomes': {
    source: 'actions',
    behaviour: 'an outcome that could not be written down, and what a tool or connector threw, are logged',
  },
  'app.settings.no-trust': {
    source: 'authority',
    behaviour: 'no file of a project says anything about trust or the home: such a key is refused by its name',
  },
  'app.settings.closed': {
    source: 'doors',
    behaviour: 'settings are one closed form for file and variables; a defect is named with its line, never its value',
  },
  'app.settings.order': {
    source: 'doors',
    behaviour: 'the nearest countersign.yaml above the working folder counts, and variables win over it',
  },
  'app.settings.starter': { source: 'doors', behaviour: 'init can write a first one; its JSON Schema is shipped' },
  'app.thread-key.missing': {
    source: 'authority, messages',
    behaviour: 'without its thread key a gate can be read, and writes nothing that a thread would record',
  },
  'app.thread-key.never-new': { source: 'authority', behaviour: 'no thread key is made for a ledger that is there' },
  'app.public': {
    source: 'authority',
    behaviour: 'the library has no way to confirm the first approver of a ledger, and none to damage a store',
  },
  'app.restore.alone': {
    source: 'ledger',
    behaviour: 'a backup is put back only while no gate is open on the store, and is launched from only once accepted',
  },
} as const;
