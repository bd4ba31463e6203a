/**
 * Named places at which a test can stop the gate: throw, kill the process, stop it for a while. The gate gets a
 * function that is called at each of them and does nothing unless a test passed another one in.
 * Source: spec reliability (harness B). Every name here is hit by a test, or the gate test fails.
 */
export const FAILPOINTS = [
  'ledger.before-commit',
  'ledger.after-commit',
  'launch.before-commit',
  'launch.after-commit',
  'launch.before-call',
  'launch.after-call',
  'launch.before-settle',
  'launch.after-settle',
  'migrate.copied',
  'migrate.verified',
  'migrate.switched',
] as const;

export type FailpointName = (typeof FAILPOINTS)[number];

/** Called synchronously at each failpoint. */
export type Failpoint = (name: FailpointName) => void;
