/**
 * Around every command: opens the gate for it, turns what it throws into words and an exit code, closes the gate.
 */
import type { Log } from '../app/index.js';
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
export type OpenGate = Awaited<ReturnType<App['open']>>;

export interface CommandContext {
  readonly output: Output;
  readonly options: CommonOptions;
  /** The gate of the home, for the agent that `--by` names. Opened once. */
  gate(): Promise<OpenGate>;
}

/** A command answers its exit code; nothing means done. */
export type Command = (context: CommandContext) => Promise<number | undefined>;

/** Runs a command and answers its exit code. */
export async function runCommand(options: CommonOptions, command: Command, streams: Streams): Promise<number> {
  const output = makeOutput(options.json === true, streams);
  const log = once(() => openLog(options, streams));
  let opened: OpenGate | undefined;
  const context: CommandContext = {
    output,
    options,
    gate: async () => {
      opened ??= await openGate(options, await log());
      return opened;
    },
  };
  const failed = async (error: unknown) => {
    const ours = isOurs(error) ? error : new Fault('internal', 'the command failed', error);
    // A log that can't be had is refused where the gate is opened, and must not hide what happened.
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

async function openLog(options: CommonOptions, streams: Streams): Promise<Log | undefined> {
  const app = await import('../app/index.js');
  const threshold = options.debug === true ? 'debug' : app.logThreshold(app.readEnvironment());
  return app.makeLog(threshold, app.systemClock, streams.err);
}

async function openGate(options: CommonOptions, log: Log | undefined): Promise<OpenGate> {
  const { open } = await import('../app/index.js');
  return open({
    ...(options.home === undefined ? {} : { home: options.home }),
    ...(options.by === undefined ? {} : { as: options.by }),
    ...(log === undefined ? {} : { log }),
  });
}
