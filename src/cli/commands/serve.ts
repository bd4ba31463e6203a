/**
 * Serves a gate over HTTP until it is told to end. Where there is no gate yet, one is made; where nobody may approve
 * yet, the first approver makes a passkey behind a link, and their code is typed here, at the terminal of the store's
 * owner.
 */
import { isIP } from 'node:net';
import { readEnvironment } from '../../app/index.js';
import { PATTERNS, Refusal } from '../../core/index.js';
import { auditInChild } from '../audit-child.js';
import { type Output, shown } from '../output.js';
import type { Command, CommandContext, OpenGate } from '../run.js';
import { askText, hasTerminal } from '../terminal.js';
import { VERSION } from '../version.js';

export interface ServeOptions {
  readonly publicUrl?: string;
  readonly listen?: readonly string[];
}

export function serve(options: ServeOptions): Command {
  return async (context) => {
    const { output } = context;
    const { serve: start } = await import('../../server/index.js');
    const publicUrl = publicUrlOf(options);
    const opened = await openOrMake(context, publicUrl);
    const { log } = opened.services;
    const serving = await start(opened, {
      version: VERSION,
      ...(publicUrl === undefined ? {} : { publicUrl }),
      ...(options.listen === undefined ? {} : { listen: options.listen.map(placeOf) }),
      ...(log === undefined ? {} : { log }),
      audit: auditInChild(opened.home.folder),
    });
    output.value({ public_url: serving.publicUrl, addresses: serving.addresses });
    output.line(`serving ${serving.publicUrl} on ${serving.addresses.join(', ')}`);
    const { webauthn } = opened.services.trust().config;
    if (webauthn !== undefined && !webauthn.origins.includes(serving.publicUrl)) {
      output.note(
        `the configuration counts no passkey that is used there: add ${serving.publicUrl} to webauthn.origins`,
      );
    }
    output.line('agents come with a token: countersign agent add NAME');
    const signal = ending();
    try {
      if (!(await opened.identity()).bootstrapped) {
        // What was asked when the end came is asked of nobody.
        await bootstrap(output, opened, serving.publicUrl, signal).catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
      }
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      output.line('ending: what runs settles first');
    } finally {
      await serving.close();
    }
    return undefined;
  };
}

/** The address that people use, from the option or the environment. */
export function publicUrlOf({ publicUrl }: ServeOptions): string | undefined {
  return publicUrl ?? readEnvironment().variable('COUNTERSIGN_PUBLIC_URL');
}

async function openOrMake({ gate, output, options }: CommandContext, publicUrl: string | undefined): Promise<OpenGate> {
  try {
    return await gate();
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'not_initialized') throw error;
    const app = await import('../../app/index.js');
    const home = app.homeAt(options.home, app.readEnvironment());
    const page = pageOf(publicUrl);
    const more = page === undefined ? {} : { page };
    const trust = await app.trustRecipe({ name: 'my gate', repositories: {}, agents: [], ...more });
    await app.initialize(home, { trust });
    output.line(`a new gate in ${shown(home.folder)}`);
    return gate();
  }
}

/** The page that passkeys can belong to: one under a name. What is no address is refused by the server. */
function pageOf(publicUrl: string | undefined): URL | undefined {
  if (publicUrl === undefined || !URL.canParse(publicUrl)) return undefined;
  const page = new URL(publicUrl);
  const isNumber = page.hostname.startsWith('[') || isIP(page.hostname) !== 0;
  return /^https?:$/.test(page.protocol) && !isNumber ? page : undefined;
}

/** The ceremony of the first approver, with a passkey. Without a terminal there is none. */
async function bootstrap(output: Output, opened: OpenGate, publicUrl: string, signal: AbortSignal): Promise<void> {
  if (!hasTerminal()) {
    output.line('nobody may approve yet: run this in a terminal once, or `countersign approver key NAME`');
    return;
  }
  const { PeopleDoor } = await import('../../app/internal.js');
  const people = new PeopleDoor(opened);
  const name = await askName(output, signal);
  const invited = await people.invite(`human:${name}`, ['approver', 'operator'], opened.caller.principal);
  output.line(`make a passkey there, in 15 minutes: ${publicUrl}/enrol#${invited.secret}`);
  for (;;) {
    const waits = await madeBehind(opened, people, invited.invitation_id, invited.expires, signal);
    if (signal.aborted) return;
    if (!waits) break;
    const code = await askText('The code that the page shows', undefined, signal);
    try {
      await people.confirmFirst(invited.invitation_id, code);
      output.line(`confirmed: human:${shown(name)} may approve, and is the operator of this ledger`);
      return;
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'forbidden') throw error;
      output.line('that is another code: compare it again');
    }
  }
  output.line('nobody made a passkey in time: start again');
}

/** Asks until it is a name. Refuses `invalid` where nothing is typed. */
async function askName(output: Output, signal: AbortSignal): Promise<string> {
  for (;;) {
    const typed = await askText('Nobody may approve yet. The name of the first approver', undefined, signal);
    const name = typed.trim().replace(/^human:/, '');
    if (PATTERNS.human.test(`human:${name}`)) return name;
    output.line('a name is of letters, digits, dots and dashes, such as alice');
  }
}

/** Waits until a passkey was made behind an invitation; false where its time is over. */
async function madeBehind(
  { services }: OpenGate,
  people: InstanceType<typeof import('../../app/internal.js').PeopleDoor>,
  invitationId: string,
  expires: number,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    if ((await people.pending()).some(({ invitation_id }) => invitation_id === invitationId)) return true;
    if (services.clock.now() >= expires) return false;
    await services.timer(500).rings;
  }
  return false;
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

/** Aborts at the first signal that asks the process to end. */
function ending(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort());
  return controller.signal;
}
