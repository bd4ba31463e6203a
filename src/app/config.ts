/**
 * What the gate reads from its environment: here and nowhere else.
 */
import type { HomeEnvironment } from './home.js';

export interface Environment extends HomeEnvironment {
  /** A variable that a secret names: `env:NAME`. */
  secret(name: string): string | undefined;
}

export function readEnvironment(): Environment {
  const { COUNTERSIGN_HOME, XDG_CONFIG_HOME } = process.env;
  return { COUNTERSIGN_HOME, XDG_CONFIG_HOME, secret: (name) => process.env[name] };
}
