/**
 * Serves a gate over HTTP until it is told to end.
 */
import { readEnvironment } from '../../app/index.js';
import { Refusal } from '../../core/index.js';
import type { Command } from '../run.js';
import { VERSION } from '../version.js';

export interface ServeOptions {
  readonly publicUrl?: string;
  readonly listen?: readonly string[];
}

export function serve(options: ServeOptions): Command {
  return async ({ gate, output }) => {
    const { serve: start } = await import('../../server/index.js');
    const opened = await gate();
    const publicUrl = options.publicUrl ?? readEnvironment().variable('COUNTERSIGN_PUBLIC_URL');
    const { log } = opened.services;
    const serving = await start(opened, {
      version: VERSION,
      ...(publicUrl === undefined ? {} : { publicUrl }),
      ...(options.listen === undefined ? {} : { listen: options.listen.map(placeOf) }),
      ...(log === undefined ? {} : { log }),
    });
    output.value({ public_url: serving.publicUrl, addresses: serving.addresses });
    output.line(`serving ${serving.publicUrl} on ${serving.addresses.join(', ')}`);
    output.line('agents come with a token: countersign agent add NAME');
    await ended();
    output.line('ending: what runs settles first');
    await serving.close();
    return undefined;
  };
}

/** `HOST:PORT`, or `[ADDRESS]:PORT`. */
function placeOf(text: string): { readonly host: string; readonly port: number } {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new Refusal('usage', '`--listen` is HOST:PORT, such as 127.0.0.1:8787', { path: 'listen' });
  }
  return { host: match[1] ?? match[2] ?? '', port };
}

/** Resolves at the first signal that asks the process to end. */
function ended(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}
