/** Rule packs: each is a sound configuration whose own tests pass, and `init` starts from it. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkPolicyFile } from '../../src/app/policy-file.js';
import { readTemplate, TEMPLATES } from '../../src/app/templates.js';
import { TEMPLATE_NAMES } from '../../src/cli/options.js';
import { countersign } from '../support/command-line.js';
import { ROOT } from '../support/files.js';
import { verifies } from '../support/verifies.js';

for (const template of TEMPLATES) {
  test(`init --template ${template}: checked, tested, and the same as the file`, async () => {
    verifies('policy.packs');
    const folder = mkdtempSync(join(tmpdir(), 'countersign-pack-'));
    const home = ['--home', join(folder, 'home')];
    const effects = ['--noop-folder', join(folder, 'effects')];
    const { exit, err } = await countersign(['init', '--no-approver', '--template', template, ...effects, ...home]);
    assert.equal(exit, 0, err);
    assert.ok(readFileSync(join(folder, 'home', 'trust.yaml'), 'utf8').includes(readTemplate(template).trimEnd()));
    const checked = await countersign(['policy', 'check', '--json', ...home]);
    const { findings } = JSON.parse(checked.out) as { findings: { level: string; what: string }[] };
    assert.deepEqual(
      findings.filter(({ level }) => level === 'problem'),
      [],
    );
    const tested = JSON.parse((await countersign(['policy', 'test', '--json', ...home])).out) as {
      tests: { passed: boolean; title: string }[];
    };
    assert.deepEqual(
      tested.tests.filter(({ passed }) => !passed),
      [],
    );
    assert.ok(tested.tests.length >= 8, String(tested.tests.length));
    assert.match((await countersign(['config', 'diff', ...home])).out, /the file is the active version/);
    rmSync(folder, { recursive: true, force: true });
  });
}

test('every pack of the package is named, and nothing else', () => {
  verifies('policy.packs');
  const files = readdirSync(join(ROOT, 'templates')).map((name) => name.replace(/\.yaml$/, ''));
  assert.deepEqual([files.sort(), [...TEMPLATE_NAMES].sort()], [[...TEMPLATES].sort(), [...TEMPLATES].sort()]);
});

test('the example of the how-to page is sound, and its tests pass', async () => {
  verifies('policy.packs');
  const page = readFileSync(join(ROOT, 'docs/how-to/write-policy.md'), 'utf8');
  const block = (language: string) => page.split(`\`\`\`${language}\n`)[1]?.split('```')[0] ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'countersign-page-'));
  writeFileSync(join(folder, 'page.cedar'), block('cedar'), { mode: 0o600 });
  const file = join(folder, 'trust.yaml');
  const merging = 'connectors: { git-merge: { gh_path: /usr/bin/gh } }';
  writeFileSync(file, `version: 1\nname: page\nmode: enforce\n${merging}\n${block('yaml')}  cedar: [page.cedar]\n`);
  const { findings, tests } = await checkPolicyFile(file);
  assert.deepEqual(
    findings.filter(({ level }) => level === 'problem'),
    [],
  );
  assert.deepEqual(
    tests.map(({ passed }) => passed),
    [true, true],
  );
  rmSync(folder, { recursive: true, force: true });
});
