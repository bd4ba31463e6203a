/**
 * What messages and their threads promise, one sentence each. A test that shows a promise cites its id with `verifies`.
 */
export const messageRequirements = {
  'messages.canonical.fields': {
    source: 'messages',
    behaviour: 'the bytes hold the fields in the order of the struct; an empty optional field has none',
  },
  'messages.canonical.escapes': {
    source: 'messages',
    behaviour: 'quote, backslash, C0 controls, < > & U+2028 and U+2029 are escaped; all else is raw UTF-8',
  },
  'messages.canonical.numbers': {
    source: 'messages',
    behaviour: 'numbers are printed as Go prints them: exponents below 1e-6 and from 1e21 on, and the sign of a zero',
  },
  'messages.canonical.refusals': {
    source: 'messages',
    behaviour: 'what has no bytes is refused: half of a surrogate pair, a number that is not finite',
  },
  'messages.canonical.hash': {
    source: 'messages',
    behaviour: 'the hash is SHA-256 of all canonical bytes, signer and signature included',
  },
  'messages.validate.rules': { source: 'messages', behaviour: 'each rule is checked, and its field named' },
  'messages.validate.order': { source: 'messages', behaviour: 'of several broken rules the first is the answer' },
  'messages.validate.blank': {
    source: 'messages',
    behaviour: "blank is the set of Go's TrimSpace: U+0085 counts, U+FEFF does not",
  },
  'messages.validate.types': {
    source: 'messages',
    behaviour: 'a field of another type is refused and never an exception, and no value is echoed',
  },
  'messages.decode.strict': {
    source: 'messages, reliability T10',
    behaviour:
      'duplicate keys, keys of another case, lone surrogates, other types and fractions for counts are refused',
  },
  'messages.decode.lenient': {
    source: 'messages',
    behaviour: 'unknown fields are ignored, null counts as absent',
  },
  'messages.decode.round-trip': {
    source: 'messages',
    behaviour: 'what is encoded is canonical, and decoding it gives the same message',
  },
  'messages.sign.interchangeable': {
    source: 'messages',
    behaviour: 'a signature is pure Ed25519 over the message with its signer and without a signature',
  },
  'messages.sign.validates': {
    source: 'messages',
    behaviour: 'only a message whose unsigned form is valid is signed; an earlier signature is replaced',
  },
  'messages.sign.tampering': {
    source: 'messages',
    behaviour: 'a change of any field breaks the signature',
  },
  'messages.sign.stripping': {
    source: 'reliability T8',
    behaviour: 'a signature that is absent, null, empty, twice there, a list or cut never counts as good',
  },
  'messages.sign.unknown-fields': {
    source: 'messages',
    behaviour: 'a failing signature over unknown fields is unverifiable, not tampered, and never good',
  },
  'messages.sign.key-confusion': {
    source: 'reliability T9',
    behaviour: 'another signer, a weak key and a second spelling of the signature do not verify',
  },
  'messages.sign.trust': {
    source: 'messages',
    behaviour: 'possession of the embedded key is one thing, whose key it is another: trust names the keys',
  },
  'messages.thread.links': {
    source: 'messages, reliability T30',
    behaviour:
      'gap, reorder, insertion, fork, repeated id, foreign thread and invalid message are found where they stand',
  },
  'messages.thread.signatures': {
    source: 'messages, actions',
    behaviour: '`each` demands every signature, `cover` a signature on each message or behind it',
  },
  'messages.thread.keys': {
    source: 'messages',
    behaviour: 'with keys every signature has to be by one of them, and none can be left out',
  },
  'messages.thread.tail': {
    source: 'reliability T30',
    behaviour: 'a cut tail is found where it takes the covering signature away, else by the remembered head alone',
  },
  'messages.thread.streaming': {
    source: 'messages',
    behaviour: 'a thread is verified message by message; the heap does not grow with it',
  },
  'messages.key-file': {
    source: 'messages',
    behaviour: 'a key file is 128 hex digits whose halves belong together, or a PKCS#8 PEM of an Ed25519 key',
  },
  'messages.projection.once': {
    source: 'actions',
    behaviour: 'each event that concerns a project is one entry of its thread, in the order of the log',
  },
  'messages.projection.covered': {
    source: 'actions',
    behaviour: "entries are chained over all batches; the last of a batch carries the gate's signature",
  },
  'messages.projection.one-event': {
    source: 'actions',
    behaviour: 'a batch makes one event with one payload for each thread that it touches',
  },
  'messages.projection.readable': {
    source: 'actions, core',
    behaviour: 'what an entry says is redacted and displayable, and is never blank',
  },
  'messages.read.pages': {
    source: 'messages',
    behaviour: 'a stored thread is read back in order, whole or from any index',
  },
  'messages.read.refusals': {
    source: 'messages, ledger',
    behaviour:
      'a thread that is not there and erased entries are refused by name; bytes that are no entries are a fault',
  },
} as const;
