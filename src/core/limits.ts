/**
 * Every bound of the product, in one file: bytes, counts, milliseconds. A limit holds at n and refuses at n + 1.
 * Source: spec core, actions, authority, ledger, messages.
 */
export const LIMITS = {
  /** Strict JSON: bytes of UTF-8 a caller may hand over unless it says otherwise. */
  jsonBytesMax: 2 * 1024 * 1024,
  /** Strict JSON and canonical JSON: levels of nesting. */
  depthMax: 64,
  /** Canonical bytes of an action's arguments. */
  argsBytesMax: 1024 * 1024,
  /** Characters of a target. */
  targetCharsMax: 1024,
  /** Characters of a work item. */
  workItemCharsMax: 256,
  /** Characters of a comment, and of the words that go with a denial or a withdrawal. */
  wordsCharsMax: 4_096,
  /** Comments that one action takes. */
  commentsMax: 200,
  /** Principals on whose behalf an action may be proposed. */
  onBehalfOfMax: 8,
  /** How long a collector of traces is waited for. */
  traceSendMsMax: 2_000,
  /** Rows of an inbox, at most and unless it is asked for another number. */
  inboxRowsMax: 1_000,
  /** Pages that are looked through where somebody asks for all of an inbox. */
  inboxPagesMax: 20,
  inboxRowsDefault: 100,
  /** What one page of an inbox looks at: records that are read, and rows of the index. */
  inboxReadsMax: 1_000,
  inboxLooksMax: 20_000,
  /** Signed receipts of one action that are fetched at once, the oldest first. */
  receiptsFetchedMax: 64,
  /** People named as approvers of one action. */
  approversMax: 64,
  /** Arguments up to this length are kept beside an action that was checked. */
  memoArgsCharsMax: 16_384,
  /** Actions of one standing approval, whose record is folded from two events of each; and how long it may stand. */
  grantCountMax: 1_000,
  grantMsMax: 30 * 24 * 3_600_000,
  /** Standing approvals that a list shows. */
  grantRowsMax: 1_000,
  /** Standing approvals that are looked at for one action, of those that are not over. */
  grantsLookedAtMax: 16,
  /** Requests that a server answers at once, and event streams that it has open beside them. */
  requestsRunningMax: 4_096,
  streamsRunningMax: 4_096,
  /** Calls and event streams that one token, or one person who is signed in, has open at once. */
  callsPerCallerMax: 512,
  streamsPerCallerMax: 64,
  /** Answers under idempotency keys that are kept for one caller, their characters, for how many callers, how long. */
  answersKeptMax: 1_000,
  answersKeptCharsMax: 512 * 1024,
  answersKeptCallersMax: 256,
  answersKeptMs: 24 * 3_600_000,
  /** Workers that one server knows, those of one token or agent, operations of one, and calls that one has at once. */
  workersMax: 256,
  workersPerCallerMax: 32,
  workerOperationsMax: 64,
  workerCallsMax: 64,
  /** A worker waits for work this long before it asks again; and counts as connected this long between two asks. */
  workerWaitMsMax: 20_000,
  workerGapMsMax: 5_000,
  /** A worker of which nothing was heard for so long does not answer any more for what it claimed. */
  workerSilentMsMax: 15_000,
  /** A worker waits so long for the answer to its claim; shorter than what makes it silent. */
  workerClaimMsMax: 10_000,
  /** What a worker's function answered, as JSON: a body of which the rest is the fence. */
  workerEvidenceBytesMax: 2 * 1024 * 1024 - 4_096,
  /** A place of a worker is kept this long for a launch that is being written. */
  workerPlaceMs: 10_000,
  /** What became of an unknown outcome is asked of a worker this long. */
  workerReconcileMsMax: 30_000,
  /** A worker's late word is taken this long after the deadline of its call. */
  workerLateMsMax: 30 * 24 * 3_600_000,
  /** How long a link to make a passkey is good, and how long its passkey waits for its confirmation. */
  invitationMs: 15 * 60_000,
  confirmMsMax: 24 * 3_600_000,
  /** How long somebody is signed in, and how long a challenge of the server is good. */
  sessionMs: 12 * 3_600_000,
  challengeMs: 5 * 60_000,
  /** How long a token of an agent is good. */
  tokenMsMax: 366 * 24 * 3_600_000,
  tokenMsDefault: 90 * 24 * 3_600_000,
  /** How long the token before stays good beside the one that replaces it. */
  tokenOverlapMsMax: 7 * 24 * 3_600_000,
  tokenOverlapMsDefault: 24 * 3_600_000,
  /** Launches of one action: each is a line of its summary. */
  attemptsMax: 32,
  /** Launches of one effect, by whichever actions, that are remembered by name. */
  effectLaunchesMax: 16,
  /** Equal actions that a proposal names which may have happened. */
  duplicatesMax: 16,
  /** A clock that stands further before the log's last event launches nothing. */
  clockBehindMsMax: 5_000,
  /** Distinct people that one rule can ask for. */
  quorumMax: 16,
  /** Actions of one agent that wait for people at once, and that it asks people for within an hour. */
  pendingMaxDefault: 20,
  pendingMaxMax: 100,
  asksPerHourDefault: 60,
  asksPerHourMax: 1_000,
  /** A person should have decided after this long, unless the rule says another time. */
  decideWithinMsDefault: 15 * 60_000,
  /** A proposal waits for its approvals this long unless it says less. */
  approveWithinMsDefault: 24 * 3_600_000,
  approveWithinMsMax: 30 * 24 * 3_600_000,
  /** An approved action must be launched within. */
  launchWithinMsDefault: 3_600_000,
  launchWithinMsMax: 7 * 24 * 3_600_000,
  /** A request can be signed this long. */
  requestTtlMsDefault: 15 * 60_000,
  requestTtlMsMax: 24 * 3_600_000,
  /** A request may be dated this far in the future of the gate's clock. */
  iatFutureMsMax: 120_000,
  /** Requests that one gesture signs. */
  batchRequestsMax: 50,
  /** Bytes of what a browser and an authenticator say of a gesture, of a signature, of a passkey's own id. */
  clientDataBytesMax: 8_192,
  authenticatorDataBytesMax: 1_024,
  signatureBytesMax: 128,
  passkeyIdBytesMax: 1_023,
  /** Somebody may be away this long. */
  awayMsMax: 366 * 24 * 3_600_000,
  /** A caller waits for a decision or an outcome this long at most. */
  waitMsMax: 24 * 3_600_000,
  /** Between the launch's commit and the first byte of the call. */
  launchToCallMsMax: 2_000,
  /** After a call's deadline, before `recover` or a `failed` by reconcile. */
  graceMs: 60_000,
  /** A call may take this long at most. */
  callMsMax: 24 * 3_600_000,
  /** A commit starts again this often when a record changed under it. */
  commitAttemptsMax: 3,
  /** Work in one transaction of the ledger. */
  batchUnitsMax: 512,
  /** Work waiting for a transaction; more is refused as busy. */
  commitQueueMax: 65_536,
  /** Records that one unit of work may lock. */
  unitRecordsMax: 2_048,
  /** A statement waits for another process's write lock this long before it yields to the loop. */
  storeBusyMsMax: 50,
  /** A commit waits for other processes this long in all before it answers busy. */
  storeWaitMsMax: 10_000,
  /** A statement on a server may take this long. */
  statementMsMax: 30_000,
  /** A transaction in which nobody asks anything is ended by the server after this. */
  transactionIdleMsMax: 2_000,
  /** A statement that goes through a whole ledger may take this long. */
  scanMsMax: 3_600_000,
  /** Rows and bytes that travel together while a ledger is copied; one row may have more bytes. */
  copyRowsMax: 500,
  copyBytesMax: 8 * 1024 * 1024,
  /** Connecting to a server, and waiting for its answer beyond a statement's time. */
  connectMsMax: 5_000,
  /** Transactions that one ledger has open on a server at once. */
  commitConnectionsMax: 2,
  /** Records that one transaction on a server locks, unless a single unit names more. */
  batchRecordsMax: 1_024,
  /** A gate's lease on a shared store runs this long; it is renewed at a third of it. */
  leaseMs: 15_000,
  /** Events of one gate that may wait for their place in the log. */
  unsequencedMax: 65_536,
  /** Events of one gate that are kept until they have their place. */
  ownEventsMax: 4_096,
  /** Events that the sequencer puts in order at once. */
  sequenceEventsMax: 1_024,
  /** Rows of one page of a list. */
  pageRowsMax: 200,
  /** Refusals recorded in full for a principal and a day; the rest is counted. */
  refusalsPerDayMax: 1_000,
  /** Bytes of one content blob: a connector's preview, a file to write. */
  contentBytesMax: 16 * 1024 * 1024,
  /** Packages: inputs of one, and the code points of what its envelopes say. */
  packageInputsMax: 1_000,
  /** What is read about packages: envelopes of a page, code points of an intent in a list. */
  packageRowsMax: 100,
  intentShownCharsMax: 200,
  envelopeContentCharsMax: 1_048_576,
  envelopeActionIdCharsMax: 64,
  packageNamesCharsMax: 128,
  intentCharsMax: 65_536,
  statementCharsMax: 16_384,
  outcomesMax: 100,
  reasonCharsMax: 1_024,
  logicalPathCharsMax: 255,
  /** Defects of an envelope that a refusal lists. */
  envelopeDefectsMax: 16,
  /** Contents that come with one call. */
  contentsMax: 16,
  /** Bytes of an act as JSON: two configurations with their Cedar files. */
  actBytesMax: 16 * 1024 * 1024,
  /** Bytes of the trust configuration and of any file that the gate reads at start. */
  configBytesMax: 1024 * 1024,
  /** Characters of one text in the log, and causes behind causes that it tells. */
  logTextCharsMax: 8_192,
  logCausesMax: 8,
  /** Rules of policy, Cedar files beside them, bytes of one file, and policy sets kept parsed. */
  policyRulesMax: 500,
  cedarFilesMax: 16,
  cedarBytesMax: 256 * 1024,
  policySetsMax: 64,
  /** Conditions of one rule, values that one condition lists, test cases of one rule. */
  ruleConditionsMax: 16,
  ruleChoicesMax: 64,
  ruleTestsMax: 64,
  /** Actions that the limit of a rule can allow in a period. */
  ruleCountMax: 1_000_000,
  /** A decision of policy may take this long. */
  policyMsMax: 1_000,
  /** Levels of an operation's arguments that have types for policy. */
  argsTypedDepthMax: 16,
  /** Past actions that a draft of policy is tried on. */
  simulatedActionsMax: 10_000,
  /** Restores and recoveries of a ledger. */
  epochMax: 1_000_000_000,
  /** Times that a decision over reads may ask for something that it did not ask for before. */
  decisionLooksMax: 16,
  /** Records kept parsed in memory by one store. */
  cachedRecordsMax: 4_096,
  /** Characters of the events of one of them that are kept beside it, to be compared with. */
  rememberedCharsMax: 8_192,
  /** Payloads of one of them that a server compares, at most: beyond that it is read anew. */
  comparedPayloadsMax: 8,
  /** Bytes of a payload that a server compares with its address for each verified read of its record. */
  checkedPayloadBytesMax: 16_384,
} as const;
