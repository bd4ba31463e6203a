/** Policy on the command line: strict loading with the line, checks, test cases, explanations, drafts on past actions. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { confirmationCode, homeAt, initialize, open } from '../../src/app/index.js';
import { bootstrapApprover } from '../../src/app/internal.js';
import { countersign, type Ran } from '../support/command-line.js';
import { ALICE } from '../support/gate-people.js';
import { verifies } from '../support/verifies.js';

const APPROVALS = "approvals:\n  - { title: anybody, approvers: ['*'], software_key_for_costly: true }\n";

function trust(effects: string, policy: string): string {
  return `version: 1
name: test
mode: enforce
connectors:
  shell-noop: { dir: ${effects} }
${APPROVALS}policy:
${policy}`;
}

const ACTIVE = `  allow_unattended_irreversible: true
  rules:
    - title: small refunds
      decide: allow
      match: { connector: shell-noop, operation: refund, target: 'cus_*' }
      when: { amount: { at_most: 10 EUR } }
      budget: 20 EUR/month
      tests:
        - { given: { amount: 10 EUR, target: cus_1, class: costly }, expect: allow }
        - { title: too much, given: { amount: 10.01 EUR, target: cus_1, class: costly }, expect: ask }
    - title: no simulated hang
      decide: deny
      owner: human:alice
      match: { connector: shell-noop }
      when: { args.simulate: hang }
  tests:
    - { given: { connector: shell-noop, operation: read, class: read }, expect: allow }
`;

describe('policy on the command line', () => {
  let folder: string;
  let home: string;
  let effects: string;
  const draft = (name: string, policy: string) => {
    const path = join(folder, name);
    writeFileSync(path, trust(effects, policy), { mode: 0o600 });
    return path;
  };
  const run = (...words: readonly string[]): Promise<Ran> => countersign([...words, '--home', home]);
  const refund = (amount: number, target: string, ...more: readonly string[]) => {
    const args = JSON.stringify({ account: target, amount, currency: 'EUR' });
    const money = ['--amount', String(amount), '--currency', 'EUR', '--args', args];
    const named = ['--connector', 'shell-noop', '--operation', 'refund', '--project', 'shop', '--target', target];
    return [...named, ...money, ...more];
  };

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'countersign-policy-'));
    home = join(folder, 'home');
    effects = join(folder, 'effects');
    mkdirSync(effects);
    const { ledgerId } = await initialize(homeAt(home, {}), { trust: trust(effects, ACTIVE), demo: true });
    const gate = await open({ home });
    await bootstrapApprover(
      gate.ledger,
      ledgerId,
      ALICE.keyText,
      confirmationCode(ledgerId, ALICE.key.publicKey),
      'demo',
    );
    await gate.close();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('refuses what is missing, unparsable or unknown, with the line', async () => {
    verifies('policy.load.strict');
    const rule = (text: string) => `  rules:\n    - { title: x, decide: allow }\n    - ${text}\n`;
    const defects: readonly (readonly [string, number, RegExp])[] = [
      [rule('{ title: y, decide: maybe }'), 11, /decide/],
      [rule('{ title: x, decide: ask }'), 11, /two rules/],
      [rule('{ title: y, decide: ask, matsch: {} }'), 11, /unknown key `matsch`/],
      [rule('{ title: y, decide: ask, match: { conector: x } }'), 11, /unknown key `conector`/],
      [rule('{ title: y, decide: ask, when: { colour: red } }'), 11, /condition/],
      [rule('{ title: y, decide: ask, when: { amount: { at_most: 5 } } }'), 11, /money|invalid|expected/i],
      [rule('{ title: y, decide: ask, when: { amount: { below: 5 EUR } } }'), 11, /below|unrecognized/i],
      [rule('{ title: y, decide: ask, limit: 5/h }'), 11, /only a rule that allows/],
      [rule('{ title: y, decide: allow, limit: 5 }'), 11, /a limit is/],
      [rule('{ title: y, decide: allow, budget: 5.001 EUR/day }'), 11, /a budget is/],
      [rule('{ title: y, decide: allow, over: ask }'), 11, /needs a limit/],
      [rule('{ title: y, decide: allow, match: { class: [costly] } }'), 11, /allow_unattended_irreversible/],
      [rule('{ title: y, decide: ask, match: { server: a, connector: b } }'), 11, /instead of/],
      ['  otherwise: whatever\n', 9, /otherwise/],
      ['  rulez: []\n', 9, /unknown key `rulez`/],
      ['  cedar: [gone.cedar]\n', 9, /not there/],
      ['  cedar: [../up.cedar]\n', 9, /named/],
    ];
    for (const [policy, line, words] of defects) {
      const { exit, err } = await run('policy', 'check', draft('bad.yaml', policy));
      assert.equal(exit, 1, policy);
      assert.match(err, new RegExp(`config_invalid\\]: line ${line}: `), policy + err);
      assert.match(err, words);
    }
  });

  it('takes a Cedar file only from beside the configuration, whole, from its owner', async () => {
    verifies('policy.load.cedar');
    const text = '@id("night")\nforbid (principal, action, resource)\nwhen { context.target == "night" };\n';
    writeFileSync(join(folder, 'own.cedar'), text, { mode: 0o600 });
    const good = draft('cedar.yaml', '  cedar: [own.cedar]\n');
    assert.equal((await run('policy', 'check', good)).exit, 0);
    const shown = JSON.parse((await run('config', 'diff', good, '--json')).out) as { changes: { path: string }[] };
    assert.ok(
      shown.changes.some(({ path }) => path === 'policy.cedar'),
      'its text is part of the version',
    );
    writeFileSync(join(folder, 'broken.cedar'), 'permit (principal, action, resource);\n\nforbid (principal;\n', {
      mode: 0o600,
    });
    const broken = await run('policy', 'check', draft('cedar.yaml', '  cedar: [broken.cedar]\n'));
    assert.match(broken.err, /line 3 of `broken.cedar`/);
    chmodSync(join(folder, 'own.cedar'), 0o666);
    assert.match(
      (await run('policy', 'check', draft('cedar.yaml', '  cedar: [own.cedar]\n'))).err,
      /written by others/,
    );
    chmodSync(join(folder, 'own.cedar'), 0o600);
    mkdirSync(join(folder, 'else'), { recursive: true });
    writeFileSync(join(folder, 'else', 'far.cedar'), text, { mode: 0o600 });
    symlinkSync(join(folder, 'else', 'far.cedar'), join(folder, 'link.cedar'));
    assert.match(
      (await run('policy', 'check', draft('cedar.yaml', '  cedar: [link.cedar]\n'))).err,
      /link to elsewhere/,
    );
  });

  it('`policy check` finds what could fail, and what is about nothing', async () => {
    verifies('policy.check');
    assert.match((await run('policy', 'check')).out, /can be evaluated/);
    const rule = (text: string) => `  rules:\n    - { title: x, decide: deny, ${text} }\n`;
    writeFileSync(
      join(folder, 'loose.cedar'),
      'permit (principal, action, resource);\nforbid (principal, action in Action::"operation:shell-noop/send", resource)\nwhen { context.args.text == "x" };\n',
      { mode: 0o600 },
    );
    const cases: readonly (readonly [string, RegExp])[] = [
      ['  cedar: [loose.cedar]\n', /problem line loose\.cedar:2: .*optional attribute/],
      [rule('match: { connector: shell-noop, operation: gone }'), /problem .*no such operation/],
      [
        rule('match: { connector: shell-noop }, when: { args.colour: red }'),
        /problem line 10: rule: x: .*args\.colour/,
      ],
      [
        rule('match: { connector: shell-noop, operation: refund }, when: { args.amount: ten }'),
        /problem line 10: rule: x/,
      ],
    ];
    for (const [policy, words] of cases) {
      const { exit, out } = await run('policy', 'check', draft('check.yaml', policy));
      assert.equal(exit, 1, policy);
      assert.match(out, words);
      assert.equal((await run('config', 'apply', join(folder, 'check.yaml'))).exit, 1, 'it can not be applied');
    }
    const elsewhere = await run('policy', 'check', draft('check.yaml', rule('match: { connector: tool }')));
    assert.equal(elsewhere.exit, 0);
    assert.match(elsewhere.out, /warning .*not checked/);
  });

  it('`policy test` runs the test cases, and a configuration whose own fail can not be applied', async () => {
    verifies('policy.test-cases');
    const { exit, out } = await run('policy', 'test');
    assert.equal(exit, 0);
    assert.match(out, /3 tests, 0 failed/);
    const wrong = draft('wrong.yaml', ACTIVE.replace('expect: ask', 'expect: allow'));
    const failed = await run('policy', 'test', wrong);
    assert.equal(failed.exit, 1);
    assert.match(failed.out, /FAIL line 18: small refunds: too much\n +expected allow, found ask/);
    const applied = draft('wrong.yaml', ACTIVE.replace('expect: ask', 'expect: allow').replace('20 EUR', '30 EUR'));
    assert.match((await run('config', 'apply', applied)).err, /config_invalid.*line 18: test/);
    const plain = draft('plain.yaml', ACTIVE.replace(/ +tests:\n( +- \{.*\n)+/g, ''));
    const same = await run('config', 'diff', plain);
    assert.match(same.out, /the file is the active version/, 'test cases are no part of the version');
  });

  it('`policy explain` names rule, file, line, facts and the nearest rule with what it would need', async () => {
    verifies('policy.explain');
    const { out: proposed } = await run('action', 'propose', ...refund(2_000, 'cus_1'), '--json');
    const { action_id } = JSON.parse(proposed) as { action_id: string };
    const { out } = await run('policy', 'explain', action_id, '--json');
    const { decisions } = JSON.parse(out) as { decisions: Record<string, Record<string, unknown>>[] };
    const [first] = decisions;
    assert.equal(first?.['facts']?.['amount'], 2_000);
    assert.deepEqual(first?.['nearest']?.['failing'], ['amount is at most 10.00 EUR, and known']);
    assert.match(String(first?.['nearest']?.['place']), /trust\.yaml:11$/);
    const hanging = JSON.stringify({ simulate: 'hang' });
    const named = ['--connector', 'shell-noop', '--operation', 'note', '--project', 'shop', '--target', 'x'];
    const whatIf = await run('policy', 'explain', '--what-if', ...named, '--args', hanging);
    assert.match(whatIf.out, /denied by policy/);
    assert.match(whatIf.out, /by rule: no simulated hang at .*trust\.yaml:19/);
    assert.match(whatIf.out, /nothing was written/);
    const cedar = await run('policy', 'show', '--cedar');
    assert.match(cedar.out, /permit \(principal, action in Action::"operation:shell-noop\/refund", resource\)/);
  });

  it('an agent is told the code, the rule, the reason and what to do next', async () => {
    verifies('policy.told');
    const named = ['--connector', 'shell-noop', '--operation', 'note', '--project', 'shop', '--target', 'x'];
    const { exit, err } = await run('action', 'propose', ...named, '--args', '{"simulate":"hang"}', '--json');
    assert.equal(exit, 1);
    const { error } = JSON.parse(err) as { error: Record<string, unknown> };
    assert.deepEqual([error['code'], error['details']], ['policy_denied', { rule: 'rule: no simulated hang' }]);
    assert.match(String(error['message']), /no simulated hang denies it/);
    assert.match(String(error['next']), /do not ask again/);
    const asked = JSON.parse((await run('action', 'propose', ...refund(5_000, 'cus_2'), '--json')).out) as Record<
      string,
      unknown
    >;
    assert.deepEqual(asked['policy'], {
      outcome: 'REQUIRE_APPROVAL',
      rule: 'built-in: unattended classes',
      reason: 'class costly needs a person where no rule allows it',
    });
  });

  it('a draft is tried on what was proposed before, bounds included; `config diff` tells it too', async () => {
    verifies('policy.simulate');
    for (const amount of [100, 200, 300]) {
      assert.equal((await run('action', 'propose', ...refund(amount, `cus_${amount}`))).exit, 0);
    }
    const same = JSON.parse((await run('policy', 'simulate', '--json')).out) as {
      differences: unknown[];
      actions: number;
    };
    assert.equal(same.differences.length, 0);
    assert.ok(same.actions >= 4);
    const stricter = draft('stricter.yaml', ACTIVE.replace('20 EUR/month', '3 EUR/month'));
    const { differences } = JSON.parse((await run('policy', 'simulate', stricter, '--json')).out) as {
      differences: { what: string; before: string; after: string }[];
    };
    assert.deepEqual(
      differences.map(({ what, before: was, after: is }) => [what, was, is]),
      [['shell-noop refund on cus_300', 'ALLOW', 'REQUIRE_APPROVAL']],
    );
    const diff = await run('config', 'diff', stricter);
    assert.match(diff.out, /1 of \d+ decisions of the last 30 days would be others/);
    assert.match(diff.out, /5 open actions could no longer be approved or launched/);
    assert.equal((await run('config', 'diff', stricter, '--days', '0')).exit, 2);
  });
});
