/**
 * What the ledger promises, one sentence each. A test that shows a promise cites its id with `verifies`.
 */
export const ledgerRequirements = {
  'ledger.claims.recorded-outcome': {
    source: 'ledger',
    behaviour: 'the same command under a taken key is answered with the recorded outcome, and nothing is written',
  },
  'ledger.claims.reuse': {
    source: 'ledger',
    behaviour: 'another command under a taken key is refused; keys of other principals and scopes are others',
  },
  'ledger.claims.refused-frees': {
    source: 'ledger',
    behaviour: 'a refused unit frees its claims, also for the units behind it in its batch',
  },
  'ledger.claims.in-the-chain': {
    source: 'ledger',
    behaviour: 'claims and the outcome stand in the event that takes them, under its hash',
  },
  'ledger.once.one-winner': {
    source: 'ledger',
    behaviour: 'of 64 callers with one nonce one wins and 63 are refused as `replay`',
  },
  'ledger.once.replay': { source: 'ledger', behaviour: 'a unit that names one nonce twice is refused, and no other' },
  'ledger.commit.all-or-nothing': {
    source: 'ledger',
    behaviour: 'all events of a unit are appended, to whatever records, or none',
  },
  'ledger.commit.refused-leaves-nothing': {
    source: 'ledger',
    behaviour: 'a refused unit leaves nothing, and the units around it are committed',
  },
  'ledger.commit.failing-unit': {
    source: 'ledger',
    behaviour: 'a unit that breaks a rule of the ledger fails by itself with a code, and harms no other unit',
  },
  'ledger.commit.isolation': {
    source: 'ledger',
    behaviour: 'decide sees the records as every unit before it left them, on every connection',
  },
  'ledger.commit.group': { source: 'ledger', behaviour: '256 commits at once share few transactions' },
  'ledger.commit.lock-only': { source: 'ledger', behaviour: 'an effect is a lock that has no events' },
  'ledger.commit.frozen': {
    source: 'ledger',
    behaviour: 'a state or an event that was handed out can not be changed, nor through the data that it was made of',
  },
  'ledger.commit.model': {
    source: 'ledger',
    behaviour: 'random units give the answers of the model, and the same log on every backend',
  },
  'ledger.chain.links': {
    source: 'ledger',
    behaviour: 'revisions have no gap, each event names the one before by hash, and its own hash covers all of it',
  },
  'ledger.time.never-back': {
    source: 'reliability',
    behaviour: 'a unit is dated never before a record that it names, also after the clock was set back',
  },
  'ledger.time.forward': {
    source: 'reliability',
    behaviour: 'what time has closed stays closed when a clock is set back',
  },
  'ledger.time.after-locks': { source: 'ledger', behaviour: 'the time of a commit is read behind its last lock' },
  'ledger.lookup.exact': {
    source: 'ledger',
    behaviour: 'a lookup sees what the units before it in the batch opened and closed',
  },
  'ledger.list.pages': { source: 'ledger', behaviour: 'pages of a list show each record once, in its order' },
  'ledger.list.filters': { source: 'ledger', behaviour: 'lists find by project, status, principal and waiting' },
  'ledger.list.cursor': { source: 'ledger', behaviour: 'a cursor that no page handed out is refused' },
  'ledger.payload.apart': {
    source: 'ledger',
    behaviour: 'payloads stand apart from the hashed data: a store without their bytes still verifies',
  },
  'ledger.payload.rehashed': { source: 'ledger', behaviour: 'a payload is hashed again whenever it is read' },
  'ledger.read.verified': {
    source: 'ledger',
    behaviour: 'a state document is believed only where it is the state that the events lead to',
  },
  'ledger.log.order': {
    source: 'ledger',
    behaviour: 'all events stand in one order without gaps, under one running hash',
  },
  'ledger.projection.once': {
    source: 'ledger',
    behaviour: 'a projection follows each event exactly once, in order, and never dates an entry before its cause',
  },
  'ledger.projection.isolated': {
    source: 'ledger',
    behaviour: 'a unit over which a projection fails is refused, and no other',
  },
  'ledger.watch.resumes': {
    source: 'ledger',
    behaviour: 'a watcher goes on behind any entry and skips none while others commit',
  },
  'ledger.watch.wakes': {
    source: 'ledger',
    behaviour: 'a watcher wakes within 150 ms of a commit, also of another connection',
  },
  'ledger.watch.ends': { source: 'ledger', behaviour: 'a watcher ends when its signal aborts or the ledger closes' },
  'ledger.watch.failed-look': {
    source: 'ledger',
    behaviour: 'a watcher waits on after a look at the store failed, and passes on what reading rejects with',
  },
  'ledger.watch.fair': { source: 'ledger', behaviour: 'following a long log lets others work in between' },
  'ledger.close.drains': { source: 'ledger', behaviour: 'closing finishes the work that waits and takes no more' },
  'ledger.verify.every-field': {
    source: 'ledger',
    behaviour: 'one byte changed in any field of any row is found and a record named, or the file is refused by a code',
  },
  'ledger.verify.history': {
    source: 'reliability',
    behaviour: 'rows that were deleted, added or put in another order are found',
  },
  'ledger.verify.remembered-head': {
    source: 'reliability',
    behaviour: 'a tail that was cut and a history written anew with every hash right are found by the remembered head',
  },
  'ledger.verify.schema': {
    source: 'ledger',
    behaviour: 'tables, indexes and triggers that are not those of the schema are found',
  },
  'ledger.verify.memory': { source: 'ledger', behaviour: 'the memory of verify does not grow with the store' },
  'ledger.sqlite.full-sync': {
    source: 'reliability',
    behaviour: 'WAL and synchronous = FULL are set and read back on every opening',
  },
  'ledger.sqlite.private-file': { source: 'ledger', behaviour: 'the file, its journal and its copies have mode 0600' },
  'ledger.sqlite.creation': {
    source: 'ledger',
    behaviour: 'a ledger is made only where one is asked for and none is; an interrupted creation can be finished',
  },
  'ledger.sqlite.foreign-file': {
    source: 'ledger',
    behaviour: "another application's file is refused and not touched",
  },
  'ledger.sqlite.newer-schema': { source: 'ledger', behaviour: 'a newer schema and a nameless store are refused' },
  'ledger.sqlite.ledger-id': { source: 'ledger', behaviour: 'another ledger at the path of this one is refused' },
  'ledger.sqlite.append-only': {
    source: 'ledger',
    behaviour: 'triggers refuse to change, replace or delete an event, or to leave a gap',
  },
  'ledger.sqlite.processes': {
    source: 'reliability',
    behaviour: 'four processes on one file and one record: every commit lands, no gap, no fork',
  },
  'ledger.sqlite.nonce-race': {
    source: 'reliability',
    behaviour: 'of 64 callers with one nonce in four processes exactly one wins',
  },
  'ledger.sqlite.busy': {
    source: 'ledger',
    behaviour: "another process's lock is waited for on the loop, 50 ms at a time and bounded in all",
  },
  'ledger.sqlite.backup': {
    source: 'ledger',
    behaviour: 'a backup is whole and verifies while others write, and replaces nothing',
  },
  'ledger.sqlite.killed': {
    source: 'reliability',
    behaviour: 'a hundred kills lose no acknowledged commit and leave a store that verifies',
  },
  'ledger.faults.nth-call': {
    source: 'reliability',
    behaviour: 'whichever call to the store fails, nothing that was answered is lost and nothing is invented',
  },
  'ledger.faults.uncertain-commit': {
    source: 'ledger',
    behaviour: 'after a commit whose end is not certain, asking with the same claim tells what became of it',
  },
  'ledger.faults.reopen': {
    source: 'ledger',
    behaviour: 'a store that could not be opened again is opened at the next use that can',
  },
  'ledger.faults.crash-points': {
    source: 'reliability',
    behaviour: 'a process that dies at any point of a commit leaves all of it or nothing',
  },
  'ledger.faults.disk-full': {
    source: 'reliability',
    behaviour: 'a full disk loses no answered commit, and work goes on once there is space',
  },
  'ledger.outbox.once': {
    source: 'ledger',
    behaviour: 'an entry of the outbox is put once for its key, whoever puts it and however often',
  },
  'ledger.outbox.cursor': {
    source: 'ledger',
    behaviour: 'the place in the log moves with the entries that were made of it, for one of several at a time',
  },
  'ledger.outbox.apart': {
    source: 'ledger',
    behaviour: 'the outbox is durable in the store, and no part of the log',
  },
  'ledger.outbox.try': {
    source: 'ledger',
    behaviour: 'a try of an entry belongs to one process, and what has ended stays so',
  },
  'ledger.outbox.lease': {
    source: 'ledger',
    behaviour: 'one holder at a time has the lease to deliver, until it ends or is given back',
  },
  'ledger.leases.held': {
    source: 'ledger',
    behaviour: 'what somebody holds for a time is named to every process that asks, and no longer',
  },
  'ledger.outbox.bounded': {
    source: 'ledger',
    behaviour: 'what ended is forgotten after its time and beyond its number; what waits stays',
  },
  'ledger.outbox.migrated': {
    source: 'ledger',
    behaviour: 'a store of the schema before gets its outbox by a forward migration, and keeps what is in it',
  },
} as const;
