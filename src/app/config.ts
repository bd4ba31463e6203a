/**
 * What the gate reads from its environment: here and nowhere else.
 */
import type { HomeEnvironment } from './home.js';

export interface Environment extends HomeEnvironment {
  /** What the log tells: silent, error, warn or debug. */
  readonly COUNTERSIGN_LOG?: string | undefined;
  /** A variable that a secret names: `env:NAME`. */
  secret(name: string): string | undefined;
}

export function readEnvironment(): Environment {
  const { COUNTERSIGN_HOME, XDG_CONFIG_HOME, COUNTERSIGN_LOG } = process.env;
  return { COUNTERSIGN_HOME, XDG_CONFIG_HOME, COUNTERSIGN_LOG, secret: (name) => process.env[name] };
}
