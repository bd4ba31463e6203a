/**
 * A gate with its console on a port that is known before it is set up, since the passkeys belong to its address; and
 * people who came in as people do: by a link, a passkey and a typed code.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { PeopleDoor } from '../../src/app/people-door.js';
import { readAll, type Tab, Visitor } from './browser.js';
import { type ServerWorld, serverWorld } from './server-world.js';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const trustAt = (origin: string) => `version: 1
name: test
mode: enforce
agents:
  local: { pending_max: none, asks_per_hour: none }
webauthn: { rp_id: localhost, origins: ['${origin}'] }
policy:
  rules:
    - title: never touch the vault
      match: { target: vault }
      decide: deny
approvals:
  - title: two people for what is guarded
    match: { operation: guarded }
    approvers: ['*']
    quorum: 2
  - title: anybody, and it runs at once
    approvers: ['*']
    launch: on_approval
`;

export interface ConsoleWorld extends ServerWorld {
  readonly origin: string;
}

/** Nobody is confirmed in it yet. */
export async function consoleWorld(): Promise<ConsoleWorld> {
  const origin = `http://localhost:${await freePort()}`;
  const world = await serverWorld({ trust: trustAt(origin), bare: true, publicUrl: origin });
  return { ...world, origin };
}

/** Somebody signed in, in a browser of their own. */
export interface Person extends Tab {
  readonly visitor: Visitor;
}

/** Makes a passkey behind a link, and answers the code that the page shows. */
export async function enrolAt(page: Page, link: string): Promise<string> {
  await page.goto(link);
  await page.getByRole('button', { name: 'Open the invitation' }).click();
  await page.getByRole('button', { name: 'Make a passkey' }).click();
  return (await page.locator('[data-code]').textContent()) ?? '';
}

export async function signInAt(page: Page): Promise<void> {
  await page.goto('/');
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
}

/** The first approver: the code is typed at the terminal of the store's owner. */
export async function firstPerson(world: ConsoleWorld, browser: Browser, options?: object): Promise<Person> {
  const people = new PeopleDoor(world.gate as never);
  const { secret, invitation_id } = await people.invite('human:alice', ['approver', 'operator'], 'agent:local');
  const visitor = await Visitor.arrive(browser, world.origin, options);
  const tab = await visitor.tab();
  await people.confirmFirst(invitation_id, await enrolAt(tab.page, `/enrol#${secret}`));
  await signInAt(tab.page);
  return { ...tab, visitor };
}

/** Somebody whom the operator invites, confirms and signs for, all of it in the console. */
export async function nextPerson(
  world: ConsoleWorld,
  browser: Browser,
  operator: Person,
  name: string,
): Promise<Person> {
  const { page } = operator;
  await page.goto('/people');
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByRole('button', { name: 'Make a link' }).click();
  const link = (await page.locator('[data-link]').textContent()) ?? '';
  const visitor = await Visitor.arrive(browser, world.origin);
  const tab = await visitor.tab();
  const code = await enrolAt(tab.page, link);
  await page.goto('/people');
  await page.getByLabel(`The code that ${name} tells you`).fill(code.toLowerCase());
  await page.getByRole('button', { name: 'Check the code' }).click();
  await readAll(page);
  await page.getByRole('button', { name: 'Sign with your passkey' }).click();
  await page.getByText('Signed, and carried out.').waitFor();
  await signInAt(tab.page);
  return { ...tab, visitor };
}
