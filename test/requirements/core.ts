/**
 * What core promises, one sentence each. A test that shows a promise cites its id with `verifies`.
 */
export const coreRequirements = {
  'core.bytes.one-spelling': {
    source: 'core',
    behaviour: 'hex, base64url: each byte string has exactly one spelling, and every other one is refused',
  },
  'core.bytes.utf8': {
    source: 'core',
    behaviour: 'UTF-8 is encoded and decoded strictly: no lone surrogates, no invalid bytes, a byte order mark is kept',
  },
  'core.canonical.jcs': {
    source: 'core',
    behaviour: 'canonical text is that of RFC 8785: sorted keys, ECMAScript numbers, minimal escapes',
  },
  'core.canonical.idempotent': {
    source: 'core',
    behaviour: 'reading canonical text and writing it again changes nothing',
  },
  'core.canonical.numbers': {
    source: 'core',
    behaviour:
      'numbers are written as ECMAScript writes them; non-finite numbers and integers beyond 2^53 - 1 are refused',
  },
  'core.canonical.refusals': {
    source: 'core',
    behaviour: 'undefined, functions, symbols, big integers, holes and objects of a class are refused with their path',
  },
  'core.canonical.surrogates': { source: 'core', behaviour: 'a lone surrogate in a value or a key is refused' },
  'core.canonical.depth': {
    source: 'core',
    behaviour: '64 levels have a canonical form; 65 levels and cycles are refused',
  },
  'core.plain.copy': {
    source: 'core, doors',
    behaviour: 'what a program hands over is copied to plain data that shares nothing with it',
  },
  'core.plain.refusals': {
    source: 'core, doors',
    behaviour: 'what is no plain data is refused with its path in fixed words, and nothing that it throws leaves',
  },
  'core.plain.limits': {
    source: 'core',
    behaviour: 'what is handed over has limits of bytes, contents and nesting, which hold before it is walked',
  },
  'core.defects': {
    source: 'core',
    behaviour:
      'a field that a schema refuses is named with what is wrong: missing, of another type, or out of which bound; never its value',
  },
  'core.digest.domains': {
    source: 'core',
    behaviour: 'the list of domains is closed, and each has a published vector',
  },
  'core.digest.separation': {
    source: 'core',
    behaviour: 'a digest made under one domain never verifies under another',
  },
  'core.digest.value': {
    source: 'core',
    behaviour: 'a digest covers the value and not its spelling, and refuses what has no canonical form',
  },
  'core.digest.content-ref': { source: 'core', behaviour: 'a content reference is the SHA-256 of the raw bytes' },
  'core.json.grammar': {
    source: 'core',
    behaviour:
      'a text is read exactly when it is RFC 8259 JSON that passes the other rules, and then as JSON.parse reads it',
  },
  'core.json.duplicate-keys': {
    source: 'core',
    behaviour: 'a key that stands twice in one object is refused at any depth and in any spelling, with its path',
  },
  'core.json.lone-surrogates': { source: 'core', behaviour: 'a lone surrogate, raw or escaped, is refused' },
  'core.json.invalid-utf8': {
    source: 'core',
    behaviour: 'bytes that are not UTF-8 are refused at their place, and no bytes make the reader throw',
  },
  'core.json.byte-order-mark': { source: 'core', behaviour: 'a byte order mark is refused' },
  'core.json.big-integers': { source: 'core', behaviour: 'an integer literal beyond 2^53 - 1 is refused' },
  'core.json.number-range': {
    source: 'core',
    behaviour: 'a number that would be read as Infinity, or as zero without being zero, is refused',
  },
  'core.json.integer-mode': {
    source: 'core',
    behaviour: 'where integers are due, fractions, exponents and negative zero are refused',
  },
  'core.json.depth': {
    source: 'core',
    behaviour: 'nesting holds at the limit and is refused one level beyond; a caller can lower it and never raise it',
  },
  'core.json.length': {
    source: 'core',
    behaviour: 'a text holds at the limit of bytes and is refused one byte beyond',
  },
  'core.json.trailing-data': { source: 'core', behaviour: 'anything but white space behind the value is refused' },
  'core.json.prototype-keys': {
    source: 'core',
    behaviour: '__proto__ and constructor are plain data and never touch a prototype',
  },
  'core.json.place': { source: 'core', behaviour: 'a refusal names the reason, the line, the column and the path' },
  'core.json.no-echo': {
    source: 'core',
    behaviour: 'a refusal never repeats a value; keys in its path are displayable and bounded',
  },
  'core.json.linear-time': {
    source: 'core',
    behaviour: 'hostile input of a mebibyte is read or refused in linear time',
  },
  'core.json.trusted': {
    source: 'core',
    behaviour: 'verified text is parsed by the platform; when it is no JSON our side has failed',
  },
  'core.keys.sound': {
    source: 'core',
    behaviour: 'a sound Ed25519 key is let in and verifies what it signed, and nothing else',
  },
  'core.keys.small-order': { source: 'core', behaviour: 'a key of small order is refused, the identity among them' },
  'core.keys.non-canonical': { source: 'core', behaviour: 'a key that is not spelled canonically is refused' },
  'core.keys.torsion': { source: 'core', behaviour: 'a key with a torsion component is refused' },
  'core.keys.no-point': {
    source: 'core',
    behaviour: 'bytes that are no point of the curve are refused, and wrong types as well',
  },
  'core.keys.wrong-length': { source: 'core', behaviour: 'a key of fewer or more than 32 bytes is refused' },
  'core.keys.wycheproof': { source: 'core', behaviour: 'the 151 signatures of Wycheproof are judged as published' },
  'core.keys.cctv': {
    source: 'core',
    behaviour: 'no defective key of the CCTV set is let in, and 2 of its 914 edge signatures verify',
  },
  'core.pure': {
    source: 'core',
    behaviour: 'core works without the globals for time, chance, process, network and timers',
  },
  'core.secrets.names': {
    source: 'core',
    behaviour: 'a key names a secret by whole words between _, -, . and changes of case',
  },
  'core.secrets.redact-names': {
    source: 'core',
    behaviour: 'a value under the name of a secret is masked at any depth',
  },
  'core.secrets.redact-shapes': {
    source: 'core',
    behaviour: 'known shapes of secrets are masked wherever they stand; masking keeps the shape and is idempotent',
  },
  'core.secrets.entropy': {
    source: 'core',
    behaviour: 'long random runs are masked, and are no reason to refuse a proposal',
  },
  'core.secrets.harmless': {
    source: 'core',
    behaviour: '40 and 64 hex digits, sha256: digests, our own ids, words and paths are never masked by shape',
  },
  'core.secrets.path': {
    source: 'core',
    behaviour: 'the first secret in plain, by name or known prefix, is found with its path',
  },
  'core.secrets.reference': {
    source: 'core',
    behaviour: '{"$secret":"NAME"} is a name and is neither masked nor refused',
  },
  'core.secrets.linear-time': {
    source: 'core',
    behaviour: 'hostile text of a mebibyte is masked and searched in linear time',
  },
  'core.text.hidden': {
    source: 'core',
    behaviour: 'no hidden code point is displayed raw, decided by Unicode property',
  },
  'core.text.round-trip': { source: 'core', behaviour: 'displayed text can be read back exactly' },
  'core.text.inverse': { source: 'core', behaviour: 'what displayText never answers is not read back' },
  'core.text.flags': {
    source: 'core',
    behaviour: 'text beyond ASCII, of mixed scripts, not in NFC or with invisible characters is flagged',
  },
} as const;
