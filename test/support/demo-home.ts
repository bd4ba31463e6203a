/**
 * A home with a ledger of a demonstration, its first approver, `shell-noop`, and the passphrase in a file: for tests that
 * drive the command line.
 */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeAt, initialize, keyPath, makeKey, open, trustRecipe } from '../../src/app/index.js';
import { bootstrapApprover } from '../../src/app/internal.js';

export interface DemoHome {
  readonly folder: string;
  readonly home: string;
  readonly effects: string;
  readonly passphrase: readonly [string, string];
}

/** `repositories` are those of `git-local`, by alias; `more` stands behind the rest of the trust configuration. */
export async function makeDemoHome(repositories: Readonly<Record<string, string>> = {}, more = ''): Promise<DemoHome> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-cli-'));
  const home = join(folder, 'home');
  const effects = join(folder, 'effects');
  mkdirSync(effects);
  const place = homeAt(home, {});
  const trust = await trustRecipe({ name: 'test', repositories, agents: ['bot'], noopFolder: effects });
  const { ledgerId } = await initialize(place, { trust: `${trust}${more}`, demo: true });
  const passphrase = join(folder, 'passphrase');
  writeFileSync(passphrase, 'a long passphrase', { mode: 0o600 });
  const key = await makeKey(ledgerId, 'human:alice', 'a long passphrase', keyPath(place, 'human:alice'));
  const gate = await open({ home });
  await bootstrapApprover(gate.ledger, ledgerId, readFileSync(key.path, 'utf8'), key.code, 'demo');
  await gate.close();
  return { folder, home, effects, passphrase: ['--passphrase-from', `file:${passphrase}`] };
}
