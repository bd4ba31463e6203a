/**
 * Around every command: opens the gate for it, turns what it throws into words and an exit code, closes the gate.
 */
import { Fault, isOurs, type Refusal } from '../core/index.js';
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
  let opened: OpenGate | undefined;
  const context: CommandContext = {
    output,
    options,
    gate: async () => {
      opened ??= await openGate(options);
      return opened;
    },
  };
  let exit: number = EXIT.done;
  try {
    exit = (await command(context)) ?? EXIT.done;
  } catch (error) {
    exit = writeError(output, ours(error), options.debug === true);
  }
  try {
    await opened?.close();
  } catch (error) {
    exit = writeError(output, ours(error), options.debug === true);
  }
  return exit;
}

async function openGate(options: CommonOptions): Promise<OpenGate> {
  const { open } = await import('../app/index.js');
  return open({
    ...(options.home === undefined ? {} : { home: options.home }),
    ...(options.by === undefined ? {} : { as: options.by }),
  });
}

function ours(error: unknown): Refusal | Fault {
  return isOurs(error) ? error : new Fault('internal', 'the command failed', error);
}
