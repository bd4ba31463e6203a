/** What the store on PostgreSQL promises beyond the contract of every ledger. */
export const postgresRequirements = {
  'postgres.refuses-server': {
    source: 'ledger',
    behaviour: 'a server before version 15, or with fsync or synchronous_commit off, is refused',
  },
  'postgres.creation': {
    source: 'ledger',
    behaviour: 'a ledger is made only where one is asked for and none is; a newer or nameless schema is refused',
  },
  'postgres.append-only': {
    source: 'ledger',
    behaviour: 'triggers refuse to change, delete or truncate events and log, also to the owner',
  },
  'postgres.roles': {
    source: 'ledger',
    behaviour: 'a gate can only do what it needs, an auditor can only read, and neither can change the schema',
  },
  'postgres.round-trips': { source: 'ledger', behaviour: 'a batch takes two round trips, whatever its size' },
  'postgres.arrays': {
    source: 'ledger',
    behaviour: 'a column of any texts, numbers or bytes reaches the server as it was, element by element',
  },
  'postgres.continued': {
    source: 'authority',
    behaviour: 'a gate at work goes on in no log that misses what it has seen, such as one of a server that was behind',
  },
  'postgres.together-in-log': {
    source: 'ledger',
    behaviour: 'the events of one transaction stand behind one another in the log, whichever waited beside them',
  },
  'postgres.in-order': {
    source: 'ledger',
    behaviour:
      'what a gate that is alone answered has its place in the log; beside others it gets one, once, and nobody waits for it',
  },
  'postgres.together': {
    source: 'ledger',
    behaviour: 'of statements that travel together none is run behind one that failed, and the connection stays usable',
  },
  'postgres.plans': {
    source: 'ledger',
    behaviour: 'every statement of a gate goes by a key, whatever the statistics of the tables say',
  },
  'postgres.patience': {
    source: 'ledger',
    behaviour:
      'a lone caller never waits for others; callers that come in waves share a transaction, for a bounded time',
  },
  'postgres.disjoint': {
    source: 'ledger',
    behaviour: 'batches on disjoint records go on beside one that holds its locks; a batch on the same record waits',
  },
  'postgres.server-time': { source: 'ledger', behaviour: "times are the server's, read behind the last lock" },
  'postgres.damage': {
    source: 'ledger',
    behaviour: 'verify finds each changed field, a missing row of any table, a missing trigger',
  },
  'postgres.remembered': {
    source: 'core',
    behaviour: 'a verified read answers what is remembered only where every byte of the record and its payloads stands',
  },
  'postgres.floor': {
    source: 'ledger',
    behaviour: 'the sequencer never skips an event of a transaction that began earlier and ended later than others',
  },
  'postgres.lost-commit': {
    source: 'ledger',
    behaviour:
      'a connection lost at any point of a commit is resolved: the caller gets the answer, nothing is done twice',
  },
  'postgres.server-killed': {
    source: 'ledger',
    behaviour: 'a server that is killed and comes back loses no answered commit, and what waited is done',
  },
  'postgres.server-gone': { source: 'core', behaviour: 'a server that stays away is a fault of the store by its code' },
  'postgres.processes': {
    source: 'reliability',
    behaviour: 'four processes on one record: every commit lands, no gap, no fork, each projected once',
  },
  'postgres.nonce-race': {
    source: 'reliability',
    behaviour: 'of 64 callers with one nonce in four processes exactly one wins',
  },
  'postgres.no-deadlock': {
    source: 'ledger',
    behaviour: 'overlapping batches of four processes never deadlock',
  },
  'postgres.killed': {
    source: 'reliability',
    behaviour: 'processes that are killed lose no acknowledged commit; another puts what they left in order',
  },
  'postgres.stopped': {
    source: 'reliability',
    behaviour: 'a process that is stopped in the middle holds its locks for a bounded time',
  },
  'postgres.lease': {
    source: 'ledger',
    behaviour: 'a gate that does not hold its lease launches and recovers nothing, calls nobody, and still settles',
  },
  'postgres.gates': {
    source: 'ledger',
    behaviour:
      "what one gate decides another learns within milliseconds and launches; a dead one's launch any other recovers",
  },
  'postgres.gates-killed': {
    source: 'reliability',
    behaviour:
      'a gate killed at any step, beside one that lives: never a second call, nothing lost, each nonce where it was used',
  },
  'postgres.stopped-lease': {
    source: 'ledger',
    behaviour: 'a gate that was stopped past its lease makes no call, even where the launch itself is not too late',
  },
  'postgres.expiry-once': {
    source: 'ledger',
    behaviour: 'several gates that look at the same time end each overdue action once; one without a lease ends none',
  },
  'postgres.unsequenced': {
    source: 'ledger',
    behaviour: 'events that wait for their place in the log are bounded: beyond that, work is refused as busy',
  },
  'migrate.moves': {
    source: 'ledger',
    behaviour:
      'a ledger moved to a database and back is the same to the last byte: log, states, claims, payloads and what was erased',
  },
  'migrate.memory': {
    source: 'authority',
    behaviour: 'a gate vouches for its ledger in the new store, and still refuses one that was rolled back',
  },
  'migrate.alone': {
    source: 'ledger',
    behaviour: 'a ledger is moved only while no gate has it open, and no gate begins meanwhile',
  },
  'migrate.refuses-difference': {
    source: 'ledger',
    behaviour: 'any difference between ledger and copy refuses: the source stays as it was, the target is empty',
  },
  'migrate.no-fork': {
    source: 'ledger',
    behaviour: 'the store that a ledger was moved out of is refused to every gate, also to one with another home',
  },
  'migrate.crash': {
    source: 'reliability',
    behaviour: 'a migration that is killed anywhere leaves one ledger, and the same command brings it to its end',
  },
  'migrate.schema': {
    source: 'ledger',
    behaviour: '`countersign migrate` brings an older schema forward and refuses a newer one',
  },
  'postgres.scenarios': {
    source: 'ledger',
    behaviour: 'the scenarios and faults of the gate pass on PostgreSQL as they do on the embedded store',
  },
} as const;
