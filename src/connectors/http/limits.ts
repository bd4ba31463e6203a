/**
 * The bounds of `http`: bytes, characters, milliseconds. A limit holds at n and refuses at n + 1.
 */
export const HTTP_LIMITS = {
  /** Bytes of an answer that are kept as evidence; of a longer one only its length is. */
  keptBytesMax: 64 * 1024,
  /** Bytes of an answer that are read; one that is longer was not read to its end, and nothing is certain of it. */
  answerBytesMax: 8 * 1024 * 1024,
  /** Bytes of the head of an answer. */
  headBytesMax: 16 * 1024,
  /** Characters of an argument that stands in a path. */
  pathArgCharsMax: 512,
  /** Characters of a secret: of a shorter one, masking would hide ordinary text. */
  secretCharsMin: 8,
  secretCharsMax: 8_192,
  /** Characters of the name of an effect outside. */
  referenceCharsMax: 256,
  /** A look at what became of a call takes at most this long. */
  reconcileMsMax: 30_000,
  /** One of several addresses is tried this long before the next. */
  addressMsMax: 2_000,
} as const;
