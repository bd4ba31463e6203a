/** Tests of the decision: what rules mean together, and that no failure of any kind allows anything. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import * as z from 'zod';
import { carriedOut, codeOf, configAct, memoryWorld, proposed, sending, TRUST } from '../../test/support/gate-world.js';
import { asking, engine, policyOf } from '../../test/support/policy-world.js';
import { verifies } from '../../test/support/verifies.js';
import { startTimer } from '../app/clock.js';
import { type CedarModule, loadCedar } from './cedar.js';
import { CedarEngine, classRule, decidePolicy, type PolicyAnswer, policiesOf, TrustConfig } from './index.js';

const ARGS = z.strictObject({ force: z.boolean().optional(), count: z.int().optional(), note: z.string().optional() });
const RULES = `allow_unattended_irreversible: true
rules:
  - { title: refunds, decide: allow, match: { connector: payments } }
  - { title: asked, decide: ask, match: { target: vip/* } }
  - { title: forced, decide: deny, when: { args.force: true } }
`;

function outcomeOf(config: TrustConfig, changes: Parameters<typeof asking>[0], schema: z.ZodType = ARGS): string {
  return engine().decide(asking(changes), config, schema).outcome;
}

describe('what rules decide', () => {
  it('a configuration without rules is decided by the class rule, byte for byte, and Cedar is not loaded', async () => {
    verifies('policy.class-rule');
    const load = () => assert.fail('it was loaded');
    const lazy = new CedarEngine({ monotonic: () => 0, load });
    for (const allowed of [true, false]) {
      const config = await policyOf(`allow_unattended_irreversible: ${allowed}`);
      for (const name of ['read', 'reversible', 'irreversible', 'costly']) {
        const asked = asking({ class: name });
        const [ours, theirs] = await Promise.all(
          [lazy, classRule].map((one) => decidePolicy(one, asked, config, 'dec_1', startTimer, ARGS)),
        );
        assert.equal(JSON.stringify(ours), JSON.stringify(theirs));
      }
    }
  });

  it('deny wins over ask, and ask over allow, in whatever order they stand', async () => {
    verifies('policy.rules.order');
    const titles = ['a', 'b', 'c'];
    const deciding = fc.shuffledSubarray(['allow', 'ask', 'deny'], { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(deciding, async (decisions) => {
        const rules = decisions.map((decide, at) => `  - { title: ${titles[at]}, decide: ${decide} }`);
        const config = await policyOf(`allow_unattended_irreversible: true\nrules:\n${rules.join('\n')}`);
        const expected = decisions.includes('deny') ? 'DENY' : decisions.includes('ask') ? 'REQUIRE_APPROVAL' : 'ALLOW';
        assert.equal(outcomeOf(config, {}), expected);
      }),
      { numRuns: 20 },
    );
  });

  it('asks whether it may run without a person only for classes that may', async () => {
    verifies('policy.questions');
    const rule = 'rules:\n  - { title: all, decide: allow }\n';
    const config = await policyOf(rule);
    assert.equal(outcomeOf(config, { class: 'reversible' }), 'ALLOW');
    assert.equal(outcomeOf(config, { class: 'irreversible' }), 'REQUIRE_APPROVAL');
    assert.equal(outcomeOf(await policyOf(`allow_unattended_irreversible: true\n${rule}`), {}), 'ALLOW');
  });

  it('without a matching rule the classes decide, or a person, or nobody, as the configuration says', async () => {
    verifies('policy.otherwise');
    const rule = 'rules:\n  - { title: notes, decide: allow, match: { operation: note } }\n';
    const answers = async (otherwise: string) => {
      const config = await policyOf(`otherwise: ${otherwise}\n${rule}`);
      return ['note', 'read'].map((operation) => outcomeOf(config, { operation, class: 'read' }));
    };
    assert.deepEqual(await answers('classes'), ['ALLOW', 'ALLOW']);
    assert.deepEqual(await answers('ask'), ['ALLOW', 'REQUIRE_APPROVAL']);
    assert.deepEqual(await answers('deny'), ['ALLOW', 'DENY']);
  });

  it('what is not known never widens', async () => {
    verifies('policy.rules.unknown');
    const config = await policyOf(`allow_unattended_irreversible: true
rules:
  - { title: all, decide: allow }
  - { title: prod, decide: deny, match: { target: prod/* } }
  - { title: dear, decide: deny, when: { amount: { at_least: 100 EUR } } }
  - { title: forced, decide: deny, when: { args.force: true } }
`);
    assert.equal(outcomeOf(config, {}), 'ALLOW');
    assert.equal(outcomeOf(config, { target: 'prod/x' }), 'DENY');
    assert.equal(outcomeOf(config, { target: 'prod/x', facts_unknown: true }), 'DENY');
    assert.equal(outcomeOf(config, { facts_unknown: true }), 'REQUIRE_APPROVAL');
    assert.equal(outcomeOf(config, { target: 'prod//x' }), 'DENY', 'a pattern that denies is read widely');
    for (const target of ['a/../prod/x', 'prod%2Fx', 'prоd/x', './prod/x']) {
      assert.equal(outcomeOf(config, { target }), 'REQUIRE_APPROVAL', target);
    }
    assert.equal(outcomeOf(config, { amount: 9_999, currency: 'EUR' }), 'ALLOW');
    assert.equal(outcomeOf(config, { amount: 10_000, currency: 'EUR' }), 'DENY');
    assert.equal(outcomeOf(config, { amount: 1, currency: 'USD' }), 'REQUIRE_APPROVAL');
    assert.equal(outcomeOf(config, { args: { any: 1 } }, z.record(z.string(), z.json())), 'REQUIRE_APPROVAL');
    const narrow = await policyOf(`allow_unattended_irreversible: true
rules:
  - { title: mine, decide: allow, match: { target: cus_* } }
`);
    assert.equal(outcomeOf(narrow, {}), 'ALLOW');
    for (const changes of [{ facts_unknown: true }, { target: 'cus_%41' }, { target: 'cus_9/..' }]) {
      assert.equal(outcomeOf(narrow, changes), 'REQUIRE_APPROVAL', JSON.stringify(changes));
    }
  });

  it('a slash takes nothing out of a rule that denies or asks, and into none that allows', async () => {
    verifies('policy.rule.wide');
    const config = await policyOf(`allow_unattended_irreversible: true
otherwise: deny
rules:
  - { title: mine, decide: allow, match: { target: 'my*', operation: 'no*' } }
  - { title: vault, decide: deny, match: { target: '*vault*' } }
  - { title: evil, decide: deny, when: { args.note: { like: '*evil*' } } }
  - { title: care, decide: ask, match: { target: 'my*care*' } }
`);
    const outcome = (target: string, note = '') =>
      outcomeOf(config, { operation: 'note', class: 'reversible', target, args: { note } });
    assert.deepEqual(
      ['my', 'mybox', 'my/box', 'other'].map((target) => outcome(target)),
      ['ALLOW', 'ALLOW', 'DENY', 'DENY'],
    );
    for (const target of ['vault', 'myvault', 'my/vault', 'vault/1', 'a/b/vault/c']) {
      assert.equal(outcome(target), 'DENY', target);
    }
    assert.deepEqual(
      ['good', 'evil', '/evil', 'see https://x/evil/y', 'evil/'].map((note) => outcome('my', note)),
      ['ALLOW', 'DENY', 'DENY', 'DENY', 'DENY'],
    );
    // What asks for a person takes nothing in that it does not name, and lets nothing go that it may mean.
    assert.deepEqual(
      ['mycare', 'my/care'].map((target) => outcome(target)),
      ['REQUIRE_APPROVAL', 'DENY'],
    );
  });

  it('free text of the agent changes nothing', async () => {
    verifies('policy.untrusted-text');
    const config = await policyOf(RULES);
    const cedar = engine();
    const expected = cedar.decide(asking({ args: { note: '' } }), config, ARGS);
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('" };permit(principal,action,resource);//', 'Action::"launch"', '*', '\\*', '{"__entity":1}'),
    );
    fc.assert(
      fc.property(hostile, (note) => {
        fc.pre(note.isWellFormed());
        assert.deepEqual(cedar.decide(asking({ args: { note } }), config, ARGS), expected);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** A configuration of one Cedar policy beside a rule that allows everything. */
async function withCedar(text: string): Promise<TrustConfig> {
  const config = await policyOf('allow_unattended_irreversible: true\nrules:\n  - { title: all, decide: allow }');
  return { ...config, policy: { ...config.policy, cedar: [{ name: 'own.cedar', text }] } };
}

function judged(config: TrustConfig, args: Record<string, unknown>, schema: z.ZodType = ARGS): PolicyAnswer {
  return engine().decide(asking({ args: args as never }), config, schema);
}

describe('what an operator writes', () => {
  it('stays what it is: no text of a rule ends the policy that it stands in', () => {
    verifies('policy.rules.text');
    const hostile = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).filter((text) => text.isWellFormed()),
      fc.constantFrom(
        '")\npermit (principal, action, resource);//',
        '*"',
        '\\',
        '\\*',
        '"*\\"',
        '\u2028',
        "' || true || '",
      ),
    );
    const plain = hostile.map((text) => text.replace(/\p{Cc}/gu, '.'));
    fc.assert(
      fc.property(plain, plain, hostile, fc.constantFrom('allow', 'ask', 'deny'), (title, target, value, decide) => {
        const when = {
          args: { 'args.a': value, 'args.b': { like: target }, 'args.c': [value], 'args.d': { holds: value } },
        };
        const rules = [{ title, decide, match: { target, project: target }, when }];
        const config = TrustConfig.parse({
          version: 1,
          name: 'test',
          mode: 'enforce',
          policy: { otherwise: 'deny', rules },
        });
        const { door } = engine();
        for (const { text } of policiesOf(door, config.policy)?.all ?? assert.fail('it can not be read')) {
          const read = door.parse(text);
          assert.equal('policies' in read && read.policies.length, 1, text);
          assert.ok(!/[^ -~\n]/.test(text), 'plain ASCII');
        }
      }),
      { numRuns: 300 },
    );
  });

  it('an applied configuration decides from then on, in every gate; what was proposed before is void', async () => {
    verifies('policy.active');
    const world = await memoryWorld();
    const before = await proposed(world);
    const policy = 'policy:\n  rules:\n    - { title: no sending, decide: deny, match: { operation: send } }\n';
    const other = await world.another();
    await carriedOut(world, await configAct(world, TRUST + policy));
    for (const gate of [world.gate, other])
      assert.equal(await codeOf(gate.propose(sending({ target: 'new' }))), 'policy_denied');
    assert.equal(await codeOf(world.gate.request(before)), 'policy_changed');
    const act = await configAct(world, TRUST);
    assert.ok(act.kind === 'config');
    const broken = { allow_unattended_irreversible: false, cedar: [{ name: 'a.cedar', text: 'permit (' }] };
    const unreadable = { ...act, config: { ...act.config, policy: broken } };
    assert.equal(await codeOf(world.gate.requestAct(unreadable)), 'config_invalid');
    await carriedOut(world, act);
    assert.equal((await other.propose(sending({ target: 'others' }))).state, 'proposed');
    await world.close();
  });
});

describe('what fails denies', () => {
  it('Cedar itself would allow: the control', () => {
    verifies('policy.errors.deny');
    const { preparsePolicySet, statefulIsAuthorized } = loadCedar();
    const forbid = 'forbid (principal, action, resource) when { context.missing };';
    preparsePolicySet('control', { staticPolicies: { a: 'permit (principal, action, resource);', b: forbid } });
    const entity = (type: string) => ({ type, id: 'x' });
    const named = { principal: entity('Agent'), action: entity('Action'), resource: entity('Project') };
    const answer = statefulIsAuthorized({ ...named, context: {}, entities: [], preparsedPolicySetId: 'control' });
    assert.equal(answer.type === 'success' && answer.response.decision, 'allow');
  });

  it('a missing attribute, a wrong type, a null, a fraction, an overflow, a name of the escape', async () => {
    verifies('policy.errors.deny');
    const texts = [
      'forbid (principal, action, resource) when { context.missing == 1 };',
      'forbid (principal, action, resource) when { context.args.count > 10 };',
      'forbid (principal, action, resource) when { context.args has count && context.args.count == "10" };',
      'forbid (principal, action, resource) when { context.args has note && context.args.note > 1 };',
      'forbid (principal, action, resource) when { resource.owner == "x" };',
      'permit (principal, action, resource) when { context.missing };',
      'forbid (principal == Robot::"x", action, resource);',
      'forbid (principal, action, resource) when {',
      'forbid (principal == ?principal, action, resource);',
    ];
    for (const text of texts) {
      const { outcome, code } = judged(await withCedar(text), { count: 1, note: 'x' });
      assert.deepEqual([outcome, code], ['DENY', 'policy_error'], text);
    }
    const guarded = await withCedar(
      'forbid (principal, action, resource) when { context.args has count && context.args.count > 10 };',
    );
    assert.equal(judged(guarded, { count: 1 }).outcome, 'ALLOW');
    assert.equal(judged(guarded, {}).outcome, 'ALLOW');
    assert.equal(judged(guarded, { count: null }).outcome, 'ALLOW', 'a null is dropped');
    assert.equal(judged(guarded, { count: 11 }).code, 'policy_denied');
    for (const args of [{ count: '1' }, { count: 1.5 }, { count: [1] }, { count: { __entity: {} } }, { __entity: 1 }]) {
      assert.equal(judged(guarded, args).code, 'policy_error', JSON.stringify(args));
    }
    const overflowing = await withCedar(
      'forbid (principal, action, resource) when { context.args has count && context.args.count * 9007199254740991 < 0 };',
    );
    assert.equal(judged(overflowing, { count: 9_007_199_254_740_991 }).code, 'policy_error');
  });

  it('a fraction is a decimal, and beyond four places no number', async () => {
    verifies('policy.encode.types');
    const config = await withCedar(
      'forbid (principal, action, resource) when { context.args has rate && context.args.rate.lessThan(decimal("0.5")) };',
    );
    const schema = z.strictObject({ rate: z.number().optional() });
    assert.equal(judged(config, { rate: 0.5 }, schema).outcome, 'ALLOW');
    assert.equal(judged(config, { rate: 0.4999 }, schema).code, 'policy_denied');
    for (const rate of [0.49999, 1e300, 5e-324, -1e15]) {
      assert.equal(judged(config, { rate }, schema).code, 'policy_error', String(rate));
    }
  });

  it('a plain rule on an argument of another type denies, instead of never matching', async () => {
    verifies('policy.validated');
    const conditions = [
      'args.count: true',
      'args.count: ten',
      'args.count: { at_most: "1.5" }',
      'args.count: { holds: x }',
    ];
    for (const condition of conditions) {
      const config = await policyOf(`rules:\n  - title: typed\n    decide: deny\n    when:\n      ${condition}\n`);
      const answer = engine().decide(asking({ class: 'read', args: {} }), config, ARGS);
      assert.deepEqual([answer.outcome, answer.code], ['DENY', 'policy_error'], condition);
      assert.match(answer.reason, /rule: typed does not fit/);
    }
  });

  it('a trap denies, and the next decision asks a fresh instance', async () => {
    verifies('policy.trap');
    const config = await policyOf(RULES);
    let loads = 0;
    let isBroken = true;
    const load = (): CedarModule => {
      loads += 1;
      const module = loadCedar();
      const trap = (): never => {
        throw new Error('unreachable');
      };
      return { ...module, statefulIsAuthorized: isBroken ? trap : module.statefulIsAuthorized };
    };
    const trapped = new CedarEngine({ monotonic: () => 0, load });
    assert.equal(trapped.decide(asking(), config, ARGS).code, 'policy_error');
    isBroken = false;
    assert.equal(trapped.decide(asking(), config, ARGS).outcome, 'ALLOW');
    assert.equal(loads, 2);
    const missing = new CedarEngine({ monotonic: () => 0, load: () => assert.fail('not installed') });
    assert.equal(missing.decide(asking(), config, ARGS).code, 'policy_error');
  });

  it('an answer of another form denies', async () => {
    verifies('policy.trap');
    const config = await policyOf(RULES);
    const answers: unknown[] = [
      undefined,
      {},
      { type: 'success', response: { decision: 'maybe', diagnostics: { reason: [], errors: [] } }, warnings: [] },
      { type: 'success', response: { decision: 'allow', diagnostics: { reason: [], errors: [] } }, warnings: [{}] },
      { type: 'success', response: { decision: 'allow' }, warnings: [] },
      { type: 'failure', errors: [], warnings: [] },
    ];
    for (const answer of answers) {
      const load = () => ({ ...loadCedar(), statefulIsAuthorized: () => answer as never });
      const odd = new CedarEngine({ monotonic: () => 0, load });
      assert.equal(odd.decide(asking(), config, ARGS).code, 'policy_error', JSON.stringify(answer));
    }
  });

  it('an evaluation that took too long denies', async () => {
    verifies('policy.timeout');
    const config = await policyOf(RULES);
    for (const [step, code] of [
      [1_000, undefined],
      [1_001, 'policy_error'],
    ] as const) {
      let now = 0;
      const slow = new CedarEngine({ monotonic: () => (now += step) });
      assert.equal(slow.decide(asking(), config, ARGS).code, code);
    }
    const never = { decide: () => new Promise<never>(() => undefined) };
    const ringing = () => ({ rings: Promise.resolve(), stop: () => undefined });
    assert.equal((await decidePolicy(never, asking(), config, 'dec_1', ringing)).code, 'policy_error');
  });

  it('the sets that are kept parsed are bounded, and an older one is parsed again', async () => {
    verifies('policy.lazy');
    const cedar = engine();
    const configs = await Promise.all(
      Array.from({ length: 80 }, (_, at) =>
        policyOf(`rules:\n  - { title: t${at}, decide: deny, match: { target: t${at} } }`),
      ),
    );
    for (let round = 0; round < 2; round += 1) {
      for (const [at, config] of configs.entries()) {
        assert.equal(cedar.decide(asking({ target: `t${at}` }), config).outcome, 'DENY');
        assert.equal(cedar.decide(asking({ target: 'other' }), config).outcome, 'REQUIRE_APPROVAL');
      }
    }
  });
});
