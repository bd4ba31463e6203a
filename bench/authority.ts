/**
 * Decisions of policy, beside bare Cedar: the same policies and the same requests, parsed before, asked without anything
 * around. An allowed action is asked two questions, a denied one the first alone. What is measured is what the gate adds to
 * Cedar, and what parsing the text anew at each decision would cost.
 * Behind it, receipts verified by the method of the key, beside their bare signatures; and launches by a standing approval.
 * Run with `npm run bench:authority`; exits with 1 when a goal is missed: at most 1.3 times bare Cedar.
 */
import * as z from 'zod';
import { parseTrustConfig } from '../src/app/index.js';
import { cedarOf } from '../src/app/show-cedar.js';
import { readTemplate, TEMPLATES } from '../src/app/templates.js';
import { loadCedar } from '../src/policy/cedar.js';
import { CedarEngine, classRule, type PolicyQuestion, type TrustConfig } from '../src/policy/index.js';
import { requestOf } from '../src/policy/request.js';
import { shapeOf } from '../src/policy/shape.js';
import { interleaved, printTable, timeText } from './support/measure.js';
import { libraryLoadMs, receiptRows } from './support/receipts.js';
import { standingRate } from './support/standing.js';

const GOAL = 1.3;

const ARGS = z.strictObject({
  invoice: z.string(),
  amount: z.int(),
  currency: z.string(),
  reason: z.enum(['damaged', 'lost']).optional(),
  notes: z.array(z.string()).optional(),
});

const QUESTION: PolicyQuestion = {
  principal: 'agent:refund-bot',
  on_behalf_of: [],
  project: 'shop',
  connector: 'payments',
  operation: 'refund',
  class: 'costly',
  target: 'cus_9',
  amount: 1_230,
  currency: 'EUR',
  facts_unknown: false,
  args: { invoice: 'in_17', amount: 1_230, currency: 'EUR', reason: 'lost', notes: ['one', 'two'] },
};

async function configOf(policy: string): Promise<TrustConfig> {
  return parseTrustConfig(`version: 1\nname: bench\nmode: enforce\n${policy}`);
}

/** So many rules, each about another operation, behind those of a pack. */
async function manyRules(count: number): Promise<TrustConfig> {
  const config = await configOf(readTemplate('payments'));
  const rules = Array.from({ length: count }, (_, at) => ({
    title: `rule ${at}`,
    decide: 'deny' as const,
    match: { connector: 'payments', operation: `operation-${at}`, target: `account-${at}/*` },
  }));
  return { ...config, policy: { ...config.policy, rules: [...(config.policy.rules ?? []), ...rules] } };
}

function measure(name: string, config: TrustConfig): { rows: string[][]; ratio: number } {
  const engine = new CedarEngine({ monotonic: () => performance.now() });
  const cedar = loadCedar() as typeof import('@cedar-policy/cedar-wasm/nodejs');
  const staticPolicies = Object.fromEntries(cedarOf(config).map(({ text }, at) => [`policy ${at}`, text]));
  cedar.preparsePolicySet('bare', { staticPolicies });
  const shape = shapeOf(ARGS);
  const questions = (['launch', 'launch_unattended'] as const).map((question) => requestOf(question, QUESTION, shape));
  const requests = questions.filter((request) => request !== undefined);
  const allowed = engine.decide(QUESTION, config, ARGS).outcome;
  if (allowed !== 'ALLOW') throw new Error(`the question is ${allowed}`);
  const times = interleaved({
    gate: () => engine.decide(QUESTION, config, ARGS),
    bare: () => requests.map((request) => cedar.statefulIsAuthorized({ ...request, preparsedPolicySetId: 'bare' })),
    text: () => requests.map((request) => cedar.isAuthorized({ ...request, policies: { staticPolicies } })),
  });
  const row = (what: string, nanoseconds: number) => [
    `${name}: ${what}`,
    timeText(nanoseconds),
    `${(1e9 / nanoseconds).toFixed(0)}/s`,
    (nanoseconds / times.bare).toFixed(2),
  ];
  return {
    rows: [
      row('a decision of the gate', times.gate),
      row('bare Cedar, parsed before', times.bare),
      row('bare Cedar, from text', times.text),
    ],
    ratio: times.gate / times.bare,
  };
}

const plain = await configOf('');
const { classes } = interleaved({ classes: () => classRule.decide({ ...QUESTION, class: 'read' }, plain, ARGS) });
const packs = [await configOf(readTemplate('payments')), await manyRules(100)];
const found = packs.map((config) => measure(`${config.policy.rules?.length ?? 0} rules`, config));
process.stdout.write(`decisions of policy, two questions each; ${TEMPLATES.length} packs ship with the package\n`);
printTable(
  ['what', 'time', 'rate', 'over bare'],
  [
    ['no rules: the class rule', timeText(classes), `${(1e9 / classes).toFixed(0)}/s`, '-'],
    ...found.flatMap(({ rows }) => rows),
  ],
);
const worst = Math.max(...found.map(({ ratio }) => ratio));
process.stdout.write(`\ngoal: at most ${GOAL} times bare Cedar; measured ${worst.toFixed(2)}\n`);
process.exitCode = worst <= GOAL ? 0 : 1;

process.stdout.write('\nproofs of receipts, each for the first time unless remembered\n');
const loadMs = await libraryLoadMs();
printTable(['what', 'time', 'rate', 'over bare'], await receiptRows());
process.stdout.write(`the library of passkeys loads once, when the first one signs: ${loadMs.toFixed(0)} ms\n`);

const standing = await standingRate();
process.stdout.write(
  `\nlaunches by standing approvals, 256 in flight: ${standing.perSecond.toFixed(0)}/s, ` +
    `${standing.cpuMicros.toFixed(0)} µs of processor each\n`,
);
