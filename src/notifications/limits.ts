/**
 * The bounds of notifications: tries, times, sizes. Pure.
 */
export const NOTIFY_LIMITS = {
  /** Tries of one delivery, and how long it is tried at all. */
  triesMax: 10,
  ageMsMax: 3 * 24 * 3_600_000,
  /** What happened longer ago is no news to anybody. */
  newsMsMax: 24 * 3_600_000,
  /** The wait before the second try; each further one is longer. */
  againMsMin: 5_000,
  againMsMax: 12 * 3_600_000,
  /** After a failure the whole channel rests, longer each time. */
  restMsMin: 1_000,
  restMsMax: 60_000,
  /** One call may take this long, and one delivery with all that it reads before. */
  sendMsMax: 15_000,
  deliveryMsMax: 30_000,
  /** What a mail server may say to one mail, and how often it is looked at. */
  mailBytesMax: 256 * 1024,
  mailLookMs: 20,
  /** A program that is run may take this long, and say as much. */
  programMsMax: 5_000,
  programBytesMax: 16 * 1024,
  /** Deliveries of one channel at once, and those that one look takes up. */
  atOnce: 4,
  lookMax: 64,
  /** Entries of one channel that may wait; more are left out, which doctor says. */
  waitingMax: 10_000,
  /** Ended entries that are kept, how long, and those that are removed at once. */
  keptMax: 50_000,
  keptMsMax: 30 * 24 * 3_600_000,
  clearMax: 1_000,
  /** Pages of the log that one look takes up. */
  pagesMax: 50,
  /** Pages of one kind of what waits: nothing ends what ran out of time but `recover`. */
  inboxPagesMax: 500,
  /** Things that wait for people that one look takes up. */
  rowsMax: 1_000,
  /** The inbox is looked at this often by the clock alone. */
  sweepMs: 15_000,
  /** The lease to deliver. */
  leaseMs: 15_000,
  /** Between one look and the next. */
  tickMs: 500,
  /** Somebody hears that the time runs out this long before, and never in the first nine tenths. */
  soonMsMax: 3_600_000,
  /** Channels, recipients, and characters of an address. */
  channelsMax: 32,
  recipientsMax: 500,
  addressCharsMax: 254,
  urlCharsMax: 2_048,
  /** Characters of a word that an agent chose. */
  wordCharsMax: 64,
  /** Bytes of a secret. */
  secretBytesMin: 24,
  secretBytesMax: 64,
} as const;
