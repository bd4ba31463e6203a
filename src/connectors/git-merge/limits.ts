/**
 * The bounds of `git-merge`: bytes and milliseconds. A limit holds at n and refuses at n + 1.
 * Source: spec actions (connectors), core (limits).
 */
export const GH_LIMITS = {
  /** A whole operation: the look before, the merge, the look after. */
  operationMsMax: 120_000,
  /** One run of gh that only reads. */
  readMsMax: 30_000,
  /** The merge itself; what is left of the operation's time is for the look after. */
  mergeMsMax: 60_000,
  /** A run of gh that was asked to stop is killed after. */
  stopMsMax: 2_000,
  /** Output of one run: a diff is the longest. */
  outputBytesMax: 16 * 1024 * 1024,
  /** Words of gh that are looked at. */
  errorBytesMax: 8 * 1024,
} as const;
