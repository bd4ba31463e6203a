/**
 * A real Chromium for the tests of the console: a person in it has pages of their own and an authenticator that the
 * browser simulates. Whatever a page reports (errors, dialogs, breaches of its policy) is kept, and asked for at the
 * end.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const PLACES = ['/usr/bin', '/usr/lib/chromium', '/snap/bin', '/Applications/Chromium.app/Contents/MacOS'];

export function launchChromium(): Promise<Browser> {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...PLACES];
  const executablePath = folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(existsSync);
  if (executablePath === undefined) throw new Error('these tests need Chromium: apt-get install chromium');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

export interface Tab {
  readonly page: Page;
  readonly session: CDPSession;
  readonly authenticatorId: string;
}

export class Visitor {
  readonly context: BrowserContext;
  /** What pages reported that they should not. */
  readonly reported: string[] = [];
  readonly #origin: string;

  private constructor(context: BrowserContext, origin: string) {
    this.context = context;
    this.#origin = origin;
  }

  static async arrive(browser: Browser, origin: string, options: object = {}): Promise<Visitor> {
    const context = await browser.newContext({ baseURL: origin, viewport: { width: 390, height: 844 }, ...options });
    context.setDefaultTimeout(10_000);
    const visitor = new Visitor(context, origin);
    await context.addInitScript({
      content: `addEventListener('securitypolicyviolation', (event) =>
        console.error('policy breached: ' + event.violatedDirective + ' ' + event.blockedURI))`,
    });
    return visitor;
  }

  /** A tab with an authenticator, which holds the passkeys of another one where that is given. */
  async tab(like?: Tab): Promise<Tab> {
    const page = await this.context.newPage();
    page.on('dialog', (dialog) => {
      this.reported.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('pageerror', (error) => this.reported.push(`error: ${error.message}`));
    page.on('console', (message) => {
      // That something was refused is an answer, not a defect of the page.
      if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return;
      this.reported.push(`console: ${message.text()}`);
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(`${this.#origin}/`)) this.reported.push(`another host: ${request.url()}`);
    });
    const session = await this.context.newCDPSession(page);
    await session.send('WebAuthn.enable');
    const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
        ...{ isUserVerified: true, automaticPresenceSimulation: true },
      },
    });
    if (like !== undefined) {
      const known = { authenticatorId: like.authenticatorId };
      const { credentials } = await like.session.send('WebAuthn.getCredentials', known);
      for (const credential of credentials) {
        await session.send('WebAuthn.addCredential', { authenticatorId, credential });
      }
    }
    return { page, session, authenticatorId };
  }
}

/** Brings all of what is signed into view, piece by piece, as a person does. */
export async function readAll(page: Page): Promise<void> {
  const pieces = page.locator('[data-piece]');
  await pieces.first().waitFor();
  const count = await pieces.count();
  for (let at = 0; at < count; at += 4) await pieces.nth(at).evaluate(CENTER);
  await pieces.nth(count - 1).evaluate(CENTER);
  await page.getByText('You have seen all of it.').waitFor();
}

/** Puts an element in the middle of the screen, for as long as it takes to be seen there. */
export const CENTER = (element: { scrollIntoView(how: object): void }) =>
  new Promise<void>((resolve) => {
    element.scrollIntoView({ block: 'center' });
    setTimeout(resolve, 30);
  });
