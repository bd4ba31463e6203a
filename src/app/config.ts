/**
 * What the gate reads from its environment: here and nowhere else.
 */
import type { HomeEnvironment } from './home.js';

export interface Environment extends HomeEnvironment {
  /** The working folder; undefined where it is gone. */
  readonly folder: string | undefined;
  /** A variable by its name. */
  variable(name: string): string | undefined;
}

export function readEnvironment(): Environment {
  const { COUNTERSIGN_HOME, XDG_CONFIG_HOME } = process.env;
  return { COUNTERSIGN_HOME, XDG_CONFIG_HOME, folder: workingFolder(), variable: (name) => process.env[name] };
}

function workingFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}
