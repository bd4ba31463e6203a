/**
 * What receipts by passkeys and by the batch, and the people who sign, promise. A test that shows a promise cites its id
 * with `verifies`.
 */
const promise = (behaviour: string) => ({ source: 'authority', behaviour });

export const receiptRequirements = {
  'approvals.rule.maybe': {
    source: 'authority',
    behaviour: 'a slash in a target, or a target that is not known, takes an action out of no stricter approval rule',
  },
  'receipts.webauthn.good': promise('a gesture of a passkey counts, by P-256 or Ed25519, whatever a browser adds'),
  'receipts.webauthn.checks': promise('each check of a gesture has its code, and the last is the signature'),
  'receipts.webauthn.order': promise('the checks of a gesture stand in the order of the specification'),
  'receipts.webauthn.cross-origin': promise('a page inside another page signs nothing'),
  'receipts.webauthn.high-s': promise('both signatures that P-256 has for one gesture count, in one spelling each'),
  'receipts.webauthn.grade': promise('a receipt says whether its page had a certificate or stood on this machine'),
  'receipts.webauthn.format': promise('the proof of a passkey is a closed form within bounds'),
  'receipts.webauthn.hostile': promise('2,000 broken proofs of a passkey: a verdict each time, never an exception'),
  'receipts.webauthn.vectors': promise('the vectors of the W3C verify where the algorithm and the page are allowed'),
  'receipts.webauthn.wycheproof': promise('signatures of P-256 are judged as the public vectors do, spelling included'),
  'receipts.webauthn.configured': promise('a configuration that names no page for passkeys accepts none'),
  'receipts.webauthn.one-try': promise('a request ends with the first failed try of a passkey'),
  'receipts.webauthn.keys': promise(
    'a passkey is registered by a receipt, with a sound public key in its one spelling',
  ),
  'receipts.webauthn.gate': promise('what a passkey signed is approved, launched and audited like any other receipt'),
  'receipts.webauthn.kinds': promise('a passkey signs acts and resolutions of every kind, each for itself alone'),
  'receipts.webauthn.domain': promise('the domain of passkeys stays while anybody has one'),
  'receipts.webauthn.last-operator': promise('no change takes the last key away that an operator can use'),
  'receipts.keys.one-method': promise('a key has one method: no receipt of the other counts by it'),
  'receipts.batch.counts': promise(
    'one gesture signs up to 50 requests, by either method; each receipt counts by itself',
  ),
  'receipts.batch.bound': promise('a receipt of a batch holds its own request at its place, or counts for nothing'),
  'receipts.batch.cli': promise('the command line signs several requests with one passphrase'),
  'receipts.replay': promise('a receipt counts once, also when it is handed in side by side'),
  'receipts.foreign': promise('a receipt of one person, kind or ledger counts for no other'),
  'receipts.away.feasible': {
    source: 'authority',
    behaviour: 'nobody is asked to sign for being away until a time, or with a delegate, that could not be',
  },
  'receipts.away.own': promise('who is away says so with an own signature, for a year at most'),
  'receipts.away.powerless': promise('being away changes neither who may sign nor how many have to'),
  'receipts.away.shown': promise('lists show who is away, until when, and who stands in'),
  'receipts.recover.terminal': promise('a ledger is recovered at a terminal alone, while no gate is open'),
  'receipts.recover.epoch': promise('a recovery raises the epoch: every earlier request and receipt is void'),
  'receipts.recover.shown': promise('a recovery is shown for ever by doctor, by the audit and in the state'),
  'receipts.recover.bounded': promise('a recovery registers one key, and a log in which one did more is found'),
  'receipts.people.list': promise('the list of people shows roles, and each key with its method'),
} as const;
