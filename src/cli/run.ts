/**
 * Around every command: opens the gate for it, turns what it throws into words and an exit code, closes the gate.
 */
import type { Log } from '../app/index.js';
import type { FoundSettings } from '../app/internal.js';
import { Fault, isOurs } from '../core/index.js';
import { EXIT, makeOutput, type Output, type Streams, writeError } from './output.js';

/** Options that every command takes. */
export interface CommonOptions {
  readonly json?: boolean;
  readonly home?: string;
  readonly by?: string;
  readonly debug?: boolean;
}

type App = typeof import('../app/index.js');
export type Settings = FoundSettings['settings'];
export type OpenGate = Awaited<ReturnType<App['open']>>;

export interface CommandContext {
  readonly output: Output;
  readonly options: CommonOptions;
  /** Defaults for what no option says, from the environment and the project's file. Read once. */
  settings(): Promise<Settings>;
  /** The log that was asked for; undefined for none. */
  log(): Promise<Log | undefined>;
  /** The gate of the home, for the agent that `--by` or the settings name. Opened once. */
  gate(): Promise<OpenGate>;
}

/** A command answers its exit code; nothing means done. */
export type Command = (context: CommandContext) => Promise<number | undefined>;

/** Runs a command and answers its exit code. */
export async function runCommand(options: CommonOptions, command: Command, streams: Streams): Promise<number> {
  const output = makeOutput(options.json === true, streams);
  const settings = once(loadSettings);
  const log = once(async () => openLog(options, await settings(), streams));
  let opened: OpenGate | undefined;
  const context: CommandContext = {
    output,
    options,
    settings,
    log,
    gate: async () => {
      opened ??= await openGate(options, await settings(), await log());
      return opened;
    },
  };
  const failed = async (error: unknown) => {
    const ours = isOurs(error) ? error : new Fault('internal', 'the command failed', error);
    // Settings that can't be read are refused where they are needed, and must not hide what happened.
    const told = ours instanceof Fault ? await log().catch(() => undefined) : undefined;
    told?.write('error', 'the command failed', ours);
    return writeError(output, ours);
  };
  let exit: number = EXIT.done;
  try {
    exit = (await command(context)) ?? EXIT.done;
  } catch (error) {
    exit = await failed(error);
  }
  try {
    await opened?.close();
  } catch (error) {
    exit = await failed(error);
  }
  return exit;
}

/** The same promise for whoever asks. */
function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

async function loadSettings(): Promise<Settings> {
  const { readEnvironment } = await import('../app/index.js');
  const { readSettings } = await import('../app/internal.js');
  return (await readSettings(readEnvironment())).settings;
}

async function openLog(options: CommonOptions, settings: Settings, streams: Streams): Promise<Log | undefined> {
  const { makeLog, systemClock } = await import('../app/index.js');
  return makeLog(options.debug === true ? 'debug' : (settings.log ?? 'silent'), systemClock, streams.err);
}

async function openGate(options: CommonOptions, settings: Settings, log: Log | undefined): Promise<OpenGate> {
  const { open } = await import('../app/index.js');
  const as = options.by ?? settings.by;
  return open({
    ...(options.home === undefined ? {} : { home: options.home }),
    ...(as === undefined ? {} : { as }),
    ...(log === undefined ? {} : { log }),
  });
}
