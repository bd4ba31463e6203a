/**
 * Values that are named where they stand: `env:NAME`, `file:/PATH`, `exec:/PROGRAM WORDS`. A program is run by its
 * absolute path, without a shell, and its first line is the value. Nothing that is found stands in an error or a log.
 * Source: spec doors (configuration).
 */
import { readPlainFile, textOf } from '../connectors/index.js';
import { LIMITS } from '../core/index.js';
import { runProgram } from '../notifications/index.js';
import type { Environment } from './config.js';

/** The value; undefined where there is none. It never throws. */
export async function readSource(source: string, environment: Environment): Promise<string | undefined> {
  const [kind, rest] = [source.slice(0, source.indexOf(':')), source.slice(source.indexOf(':') + 1)];
  switch (kind) {
    case 'env':
      return environment.variable(rest) || undefined;
    case 'file': {
      const read = readPlainFile(rest, LIMITS.configBytesMax);
      return read.ok ? firstLine(textOf(read.bytes)) : undefined;
    }
    case 'exec': {
      const [program = '', ...words] = rest.split(/ +/);
      const { exitCode, output } = await runProgram(program, words, programEnvironment(environment));
      return exitCode === 0 ? firstLine(output.toString('utf8')) : undefined;
    }
    default:
      return undefined;
  }
}

function firstLine(text: string): string | undefined {
  return text.split(/\r?\n/, 1)[0] || undefined;
}

/** What a program of the owner finds its own files and its session by. */
export function programEnvironment({ variable }: Environment): Readonly<Record<string, string>> {
  const names = ['PATH', 'HOME', 'LANG', 'DISPLAY', 'WAYLAND_DISPLAY', 'XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS'];
  const found = names.map((name) => [name, variable(name)] as const);
  return Object.fromEntries(found.filter((pair): pair is readonly [string, string] => pair[1] !== undefined));
}
