/** What people read before they sign: complete, reversible, and without a way to make a line of one's own. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { AT, CONTENT, STATES } from '../../test/support/action-states.js';
import { verifies } from '../../test/support/verifies.js';
import { publicSuite } from '../../vectors/read.js';
import { parseSummary, renderSummary } from '../approvals/index.js';
import type { LedgerState } from '../identity/index.js';
import { amountText } from './money.js';
import { summaryLines, summaryOf, threadText } from './render.js';
import type { ActionContent, ActionState } from './schema.js';

const LEDGER: LedgerState = {
  ledger_id: CONTENT.ledger_id,
  name: 'test',
  epoch: 0,
  demo: false,
  created_at: AT,
  bootstrapped: true,
  restored_at: [],
  recovered: [],
};
const ARGS = '{"text":"hello"}';

function stateOf(content: Partial<ActionContent> = {}, state: Partial<ActionState> = {}): ActionState {
  return { ...STATES.proposed, ...state, content: { ...CONTENT, ...content } };
}

function linesOf(state: ActionState, args = ARGS): readonly string[] {
  return summaryOf(LEDGER, state, args, [{ name: 'text', value: 'hello' }]).rendered;
}

/** Every field of digest and binding. The two digests are lines as well; here each field has to show in a line of its own. */
const CHANGES: Readonly<Record<string, Partial<ActionContent>>> = {
  action_id: { action_id: 'act_01JDXW3Q4R8Y2M5N7P9S0T1V3X' },
  project: { project: 'other' },
  connector: { connector: 'other' },
  operation: { operation: 'other' },
  target: { target: 'other' },
  amount: { amount: 1_231 },
  'no amount': { amount: null, currency: null },
  currency: { currency: 'USD' },
  policy_version: { policy_version: 'sha256:other' },
  class: { class: 'costly' },
  work_item: { work_item: 'chg_2' },
  'no work_item': { work_item: null },
  proposed_by: { proposed_by: 'agent:other' },
  on_behalf_of: { on_behalf_of: ['agent:third'] },
  approvers: { approvers: ['human:alice'] },
  quorum: { quorum: 2 },
  approve_by: { approve_by: CONTENT.approve_by + 1 },
  launch_within_ms: { launch_within_ms: CONTENT.launch_within_ms + 1 },
  operation_digest: { operation_digest: 'sha256:other' },
  preconditions: { preconditions: { head: 'two' } },
  'more preconditions': { preconditions: { head: 'one', price: '7' } },
  provenance: { provenance: { thread_id: 'acme' } },
  flags: { flags: ['possible_duplicate'] },
  ledger_id: { ledger_id: 'ffffffffffffffffffffffffffffffff' },
};

test('every field of digest and binding is a line of the summary', () => {
  verifies('actions.summary.every-field');
  const seen = new Map([[linesOf(stateOf()).join('\n'), 'unchanged']]);
  const look = (name: string, lines: readonly string[]) => {
    const text = lines.join('\n');
    assert.equal(seen.get(text), undefined, name);
    seen.set(text, name);
  };
  for (const [name, change] of Object.entries(CHANGES)) look(name, linesOf(stateOf(change)));
  look('arguments', linesOf(stateOf(), '{"text":"hello "}'));
  look('attempts', linesOf(STATES.failed));
  look('digest', linesOf(stateOf({ digest: 'sha256:other' })));
  look('binding', linesOf(stateOf({ binding: 'sha256:other' })));
  const digests = Object.values(CHANGES).map((change) => summaryOf(LEDGER, stateOf(change), ARGS, []).digest);
  assert.equal(new Set(digests).size, digests.length);
});

test('the ledger of a demonstration says so in its first line', () => {
  verifies('actions.summary.demo');
  const [first] = summaryOf({ ...LEDGER, demo: true }, stateOf(), ARGS, []).rendered;
  assert.equal(first, 'demo ledger: DEMO LEDGER');
  assert.ok(!linesOf(stateOf()).some((line) => line.includes('DEMO')));
});

const HOSTILE = [
  ...[
    '',
    ' ',
    'a\nfingerprint: sha256:0',
    'a\rb',
    '\u2028approvers: human:mallory',
    '\u001b[2J',
    '\u0085',
    '\\',
    '\\u{a}',
  ],
  ...[
    '\u202e\u2066',
    '\ud800',
    '\udc00\ud800',
    '\u{e0100}',
    '\u{1d173}',
    'x'.repeat(70_000),
    ': ',
    'a: b',
    ' lead',
    'trail ',
  ],
  ...['\u0000', '\u00ad', '\ufeff', '\u3000', '\u{10ffff}', 'e\u0301', '{"$secret":"X"}', '`rm -rf`', '%s%n'],
];
const hostile = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
);
const RAW = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u;

function checkLines(lines: readonly { name: string; value: string }[]): void {
  const rendered = renderSummary(lines);
  assert.equal(rendered.length, lines.length);
  for (const line of rendered) assert.ok(!RAW.test(line), JSON.stringify(line));
  assert.deepEqual(parseSummary(rendered), lines);
}

test('a summary can be read back exactly, whatever its names and values are', () => {
  verifies('actions.summary.reversible');
  verifies('actions.summary.hidden');
  const line = fc.record({ name: hostile, value: hostile }, { noNullPrototype: true });
  fc.assert(fc.property(fc.array(line, { maxLength: 6 }), checkLines), { numRuns: 5_000 });
  for (const name of HOSTILE) for (const value of HOSTILE) checkLines([{ name, value }]);
});

test('an action with hostile values has the same lines, nothing raw and nothing cut', () => {
  verifies('actions.summary.own-lines');
  verifies('actions.summary.hidden');
  const names = summaryLines(LEDGER, stateOf(), ARGS, [{ name: 'text', value: '' }]).map(({ name }) => name);
  fc.assert(
    fc.property(hostile, hostile, hostile, hostile, (target, work_item, args, own) => {
      const state = stateOf({ target, work_item });
      const lines = summaryLines(LEDGER, state, args, [{ name: 'text', value: own }]);
      assert.deepEqual(
        lines.map(({ name }) => name),
        names,
      );
      checkLines(lines);
      const values = new Map(lines.map(({ name, value }) => [name, value]));
      assert.equal(values.get('target'), target);
      assert.equal(values.get('work item'), work_item);
      assert.equal(values.get('arguments'), args);
      assert.equal(values.get('> text'), own);
    }),
    { numRuns: 2_000 },
  );
});

test('what no renderer answers is not read back', () => {
  verifies('actions.summary.reversible');
  for (const line of ['', 'no colon', 'a:b', 'a\\u{3b}: b', 'a: \u202e', 'a: \\x', 'a\\u{3A}: b', 'a:: b']) {
    assert.equal(parseSummary([line]), undefined, JSON.stringify(line));
  }
});

test('the public collections of hostile strings are read back exactly', () => {
  verifies('actions.summary.reversible');
  const [blns, trojan] = [publicSuite('blns'), publicSuite('trojan-source')];
  for (const { skip } of [blns, trojan]) if (skip !== false) return console.log(`not run: ${skip}`);
  const naughty = JSON.parse(readFileSync(join(blns.path, 'blns.json'), 'utf8')) as string[];
  const { cases } = JSON.parse(readFileSync(join(trojan.path, 'cases.json'), 'utf8')) as { cases: { text: string }[] };
  assert.ok(naughty.length > 500 && cases.length > 10);
  for (const value of [...naughty, ...cases.map(({ text }) => text)]) {
    checkLines([{ name: 'arguments', value }]);
    checkLines(summaryLines(LEDGER, stateOf({ target: value }), JSON.stringify({ value }), []));
  }
});

test('amounts are shown in major units by the exponent of their currency, and in minor ones', () => {
  verifies('actions.summary.amount');
  assert.equal(amountText(1_230, 'EUR'), '12.30 EUR (1230 minor units)');
  assert.equal(amountText(0, 'EUR'), '0.00 EUR (0 minor units)');
  assert.equal(amountText(5, 'USD'), '0.05 USD (5 minor units)');
  assert.equal(amountText(500, 'JPY'), '500 JPY (500 minor units)');
  assert.equal(amountText(1, 'KWD'), '0.001 KWD (1 minor units)');
  assert.equal(amountText(12_345, 'CLF'), '1.2345 CLF (12345 minor units)');
  assert.equal(amountText(Number.MAX_SAFE_INTEGER, 'XYZ'), '90071992547409.91 XYZ (9007199254740991 minor units)');
});

test('an entry of the thread says what happened in one line', () => {
  verifies('actions.thread.words');
  const types = ['action-proposed', 'approval-recorded', 'action-approved', 'action-cancelled', 'action-launched'];
  const more = ['action-confirmed', 'action-failed', 'action-outcome-unknown', 'late-result-recorded'];
  const texts = [...types, ...more, 'action-interrupted', 'action-something'].map((type) =>
    threadText({ type } as Parameters<typeof threadText>[0], STATES.confirmed),
  );
  assert.equal(new Set(texts).size, texts.length);
  for (const text of texts) assert.ok(text.startsWith(CONTENT.action_id) && !text.includes('\n'), text);
});
