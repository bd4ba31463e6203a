/**
 * The bounds of `git-local`: bytes, counts, milliseconds. A limit holds at n and refuses at n + 1.
 * Source: spec actions (connectors), core (limits).
 */
export const GIT_LIMITS = {
  /** A whole operation. The first look at a large repository copies its history. */
  operationMsMax: 120_000,
  /** One run of git. */
  runMsMax: 60_000,
  /** After the ref moved: the update of the work tree, which is not called off half-way. */
  workTreeMsMax: 60_000,
  /** A run of git that was asked to stop is killed after. */
  stopMsMax: 2_000,
  /** Output of one run that is kept in memory: listings of trees and of the index. */
  outputBytesMax: 128 * 1024 * 1024,
  /** Words of git that go to the log of the gate. */
  errorBytesMax: 8 * 1024,
  /** A pack that is taken in from an agent's repository. */
  packBytesMax: 4 * 1024 * 1024 * 1024,
  /** `packed-refs` of an agent's repository. */
  packedRefsBytesMax: 64 * 1024 * 1024,
  /** Any other small file of an agent's repository: `HEAD`, a loose ref. */
  smallFileBytesMax: 4_096,
  /** Linked work trees of one repository. */
  linkedWorkTreesMax: 1_024,
  /** Characters of a branch name. */
  branchCharsMax: 255,
  /** Characters of a path that is written. */
  pathCharsMax: 1_024,
  /** Characters of a commit message. */
  messageCharsMax: 8_192,
} as const;
