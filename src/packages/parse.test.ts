/** Text becomes one envelope, or INVALID_ENVELOPE: whatever it is, and for whatever field. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { envelope, ID, PAYLOADS } from '../../test/support/package-world.js';
import { verifies } from '../../test/support/verifies.js';
import { LIMITS, Refusal } from '../core/index.js';
import { parseEnvelope } from './parse.js';
import { type ActionName, FIELDS } from './schema.js';

function refusalOf(input: unknown): Refusal {
  try {
    parseEnvelope(input);
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    assert.equal(error.code, 'INVALID_ENVELOPE');
    return error;
  }
  throw new assert.AssertionError({ message: 'it was accepted' });
}

function defectsOf(input: unknown): readonly string[] {
  return (refusalOf(input).details?.defects ?? []) as readonly string[];
}

const good = (changes = {}) => JSON.stringify(envelope('record_input', 7, changes));
const withPayload = (action: ActionName, changes: object) =>
  JSON.stringify(envelope(action, 0, { payload: { ...PAYLOADS[action], ...changes } }));

describe('the text of an envelope', () => {
  it('is one JSON object, alone or with prose around it', () => {
    verifies('packages.parse.one-object');
    verifies('packages.parse.prose');
    for (const around of [
      (text: string) => text,
      (text: string) => `\n  ${text}\r\n`,
      (text: string) => `I record the input:\n\`\`\`json\n${text}\n\`\`\`\nThat is all; the summary is approved.`,
      (text: string) => `1.5 things first. ${text}`,
      (text: string) => `1. First: ${text}`,
      (text: string) => `99999999999999999999 is the ticket. ${text}`,
      (text: string) => `[1] says so: ${text}`,
      (text: string) => `\uFEFF${text}`,
      (text: string) => `"so": ${text}`,
    ]) {
      const text = around(good());
      assert.equal(parseEnvelope(text).action, 'record_input', text.slice(0, 20));
      assert.deepEqual(parseEnvelope(new TextEncoder().encode(text)), parseEnvelope(text));
    }
  });

  it('is refused when it is another value, or more than one object', () => {
    verifies('packages.parse.one-object');
    for (const text of [
      '',
      'approved',
      'null',
      '7',
      JSON.stringify(good()),
      `[${good()}]`,
      `[1.0, ${good()}]`,
      `[{"a":1,"a":1}, ${good()}]`,
      `["\\ud800", ${good()}]`,
      `${good()}${good()}`,
      `first ${good()} then ${good()}`,
      `use {braces} in ${good()}`,
      `${good()} }`,
      '{',
      '}{',
      'not {json} at all',
      '{"a":NaN}',
    ]) {
      refusalOf(text);
    }
  });

  it('is read strictly: what two readers could read in two ways is refused', () => {
    verifies('packages.parse.strict');
    const of = (revision: string) => good().replace('"expected_revision":7', `"expected_revision":${revision}`);
    assert.equal(parseEnvelope(of('0')).expected_revision, 0);
    for (const revision of [
      '1.0',
      'true',
      '-1',
      '-0',
      '1e2',
      '9'.repeat(5_000),
      '9007199254740992',
      '"7"',
      'null',
      '[]',
    ]) {
      refusalOf(of(revision));
      refusalOf(`So: ${of(revision)}`);
    }
    refusalOf(good().replace('"basis":{}', '"basis":{},"basis":{}'));
    refusalOf(good().replace('"kind":"text"', '"kind":"text","kind":"text"'));
    refusalOf(good().replace('"basis":{}', `"basis":${'['.repeat(100_000)}${']'.repeat(100_000)}`));
    refusalOf('{"a":'.repeat(100_000));
    refusalOf(good().replace('"hello"', '"\\ud800"'));
    refusalOf(good().replace('hello', '\ud800'));
    refusalOf(new Uint8Array([0x7b, 0xff, 0x7d]));
    const padded = (bytes: number) => `${good()}${' '.repeat(bytes - good().length)}`;
    assert.equal(parseEnvelope(padded(LIMITS.jsonBytesMax)).action, 'record_input');
    assert.equal(refusalOf(padded(LIMITS.jsonBytesMax + 1)).details?.reason, 'too_long');
    assert.equal(refusalOf(new Uint8Array(LIMITS.jsonBytesMax + 1)).details?.reason, 'too_long');
  });

  it('tells the place of a defect in the whole text', () => {
    const refusal = refusalOf(`Here:\nit is {"a":1,\n"a":2}`);
    assert.deepEqual([refusal.details?.line, refusal.details?.column], [3, 1]);
    const { details } = refusalOf(`Here: {"a":1.0}`);
    assert.deepEqual([details?.line, details?.column], [1, 12]);
  });
});

describe('the fields of an envelope', () => {
  it('are exactly those of the protocol, at every level', () => {
    verifies('packages.parse.fields');
    for (const name of Object.keys(envelope('cancel', 0))) {
      const { [name]: _, ...rest } = envelope('cancel', 0) as unknown as Record<string, unknown>;
      assert.equal(refusalOf(JSON.stringify(rest)).path, `$.${name}`);
    }
    for (const action of Object.keys(FIELDS) as ActionName[]) {
      for (const part of ['basis', 'payload'] as const) {
        const whole = envelope(action, 0);
        for (const key of ['extra', '__proto__', 'constructor', 'operatorId', '']) {
          const text = JSON.stringify(whole)
            .replace(`"${part}":{`, `"${part}":{${JSON.stringify(key)}:1,`)
            .replace(',}', '}');
          assert.match(defectsOf(text).join(), /is no field of this envelope/, text);
        }
        for (const name of Object.keys(FIELDS[action][part])) {
          const { [name]: value, ...rest } = whole[part];
          const text = JSON.stringify({ ...whole, [part]: rest });
          if (value === undefined || name === 'desired_outcomes') parseEnvelope(text);
          else assert.equal(refusalOf(text).path, `$.${part}.${name}`);
        }
        for (const value of [null, [], 'x', 1]) {
          assert.equal(refusalOf(JSON.stringify({ ...whole, [part]: value })).path, `$.${part}`);
        }
      }
    }
    refusalOf(good().replace('{"protocol', '{"__proto__":{},"protocol'));
    refusalOf(good({ approved: true }));
  });

  it('are checked in the order of the protocol, and every defect is listed', () => {
    verifies('packages.parse.order');
    const wrong: [string, object][] = [
      ['$.extra', { extra: 1 }],
      ['$.protocol_version', { protocol_version: '0.2' }],
      ['$.action_id', { action_id: '' }],
      ['$.package_id', { package_id: 'demo' }],
      ['$.expected_revision', { expected_revision: -1 }],
      ['$.action', { action: 'approve' }],
      ['$.basis', { basis: null }],
      ['$.payload', { payload: null }],
    ];
    for (let from = 0; from < wrong.length; from += 1) {
      const refusal = refusalOf(good(Object.assign({}, ...wrong.slice(from).map(([, change]) => change))));
      assert.equal(refusal.path, wrong[from]?.[0]);
      assert.equal(((refusal.details?.defects ?? []) as string[]).length, wrong.length - from);
    }
    const missing = JSON.parse(good({ package_id: 'x' })) as Record<string, unknown>;
    delete missing.payload;
    assert.equal(refusalOf(JSON.stringify(missing)).path, '$.payload', 'missing comes before wrong');
    const parts = good({ basis: { a: 1 }, payload: { ...PAYLOADS.record_input, kind: 'x', more: 1 } });
    assert.deepEqual(
      defectsOf(parts).map((text) => text.split(' ')[0]),
      ['$.basis.a', '$.payload.more', '$.payload.kind'],
    );
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`f${i}`, 1]));
    assert.equal(defectsOf(good(many)).length, LIMITS.envelopeDefectsMax);
  });

  it('hold at their limits and refuse beyond them', () => {
    verifies('packages.parse.rules');
    const face = '\u{1F600}';
    const limits: [string, (text: string) => string, string, string][] = [
      ['action_id', (text) => good({ action_id: text }), face.repeat(64), face.repeat(65)],
      ['package_id', (text) => good({ package_id: `pkg_${text}` }), 'a'.repeat(63), 'a'.repeat(64)],
      ['input_id', (text) => withPayload('record_input', { input_id: text }), 'a'.repeat(128), 'a'.repeat(129)],
      [
        'reason',
        (text) => withPayload('record_input', { exclusion_reason: text }),
        face.repeat(1_024),
        face.repeat(1_025),
      ],
      [
        'content',
        (text) => withPayload('record_input', { content: text }),
        'a'.repeat(1_048_576),
        'a'.repeat(1_048_577),
      ],
      [
        'statement',
        (text) => withPayload('set_objective', { statement: text }),
        face.repeat(16_384),
        face.repeat(16_385),
      ],
      [
        'outcome',
        (text) => withPayload('set_objective', { desired_outcomes: [text] }),
        'a'.repeat(16_384),
        'a'.repeat(16_385),
      ],
      [
        'operator_id',
        (text) => withPayload('confirm_summary', { operator_id: text }),
        'a'.repeat(128),
        'a'.repeat(129),
      ],
      [
        'artifact_id',
        (text) => withPayload('record_draft_artifact', { artifact_id: text }),
        'a'.repeat(128),
        'a'.repeat(129),
      ],
      ['kind', (text) => withPayload('record_draft_artifact', { kind: text }), face.repeat(128), face.repeat(129)],
      ['cancel', (text) => withPayload('cancel', { reason: text }), 'a'.repeat(1_024), 'a'.repeat(1_025)],
    ];
    for (const [what, text, holds, refused] of limits) {
      assert.ok(parseEnvelope(text(holds)), what);
      refusalOf(text(refused));
    }
    const outcomes = (count: number) => withPayload('set_objective', { desired_outcomes: Array(count).fill('x') });
    assert.ok(parseEnvelope(outcomes(100)));
    refusalOf(outcomes(101));
    for (const id of ['', 'a\n', '\u0000', '\u0085']) refusalOf(good({ action_id: id }));
    assert.ok(parseEnvelope(good({ action_id: 'any \u200d\u202e id' })));
    for (const id of ['', 'a b', 'a.b', 'ä', 'a\n']) refusalOf(withPayload('record_input', { input_id: id }));
    for (const id of ['', 'a b', 'a/b', 'a\n']) refusalOf(withPayload('confirm_summary', { operator_id: id }));
    assert.ok(parseEnvelope(withPayload('confirm_summary', { operator_id: 'vincent.v_1-a' })));
    for (const id of ['pkg_', 'pkg_a.b', 'PKG_a', ` ${ID}`, `${ID}\n`]) refusalOf(good({ package_id: id }));
    for (const field of ['kind', 'source', 'disposition']) refusalOf(withPayload('record_input', { [field]: 'other' }));
    assert.ok(parseEnvelope(withPayload('record_input', { exclusion_reason: null })));
    assert.ok(parseEnvelope(withPayload('set_objective', { desired_outcomes: null })));
    assert.ok(parseEnvelope(withPayload('cancel', { reason: null })));
    assert.ok(parseEnvelope(withPayload('record_input', { content: 'any \u0000 \u202e text' })));
    assert.ok(parseEnvelope(withPayload('record_input', { content: '' })));
  });

  it('hold no character that could break, hide or turn a line that a person confirms', () => {
    verifies('packages.parse.lines');
    const unfit = [
      '\n',
      '\r',
      '\t',
      '\u0000',
      '\u0085',
      '\u009b',
      '\u200b',
      '\u200d',
      '\u2060',
      '\ufeff',
      '\u202e',
      '\u2066',
      '\u061c',
      '\u2028',
      '\u2029',
      '\u{e0001}',
      '\u00ad',
    ];
    const lines: ((text: string) => string)[] = [
      (text) => withPayload('record_input', { exclusion_reason: text }),
      (text) => withPayload('set_objective', { statement: text }),
      (text) => withPayload('set_objective', { desired_outcomes: ['x', text] }),
      (text) => withPayload('record_draft_artifact', { kind: text }),
      (text) => withPayload('cancel', { reason: text }),
    ];
    for (const line of lines) {
      assert.ok(parseEnvelope(line('Größe — 日本 🎉 \u00a0')));
      for (const character of unfit) refusalOf(line(`a${character}b`));
    }
  });

  it('are never repeated by a refusal', () => {
    verifies('packages.parse.silent');
    const secret = 'hunter2hunter2';
    for (const text of [
      good({ action: secret }),
      good({ action_id: `${secret}\n` }),
      good({ protocol_version: secret }),
      withPayload('record_input', { kind: secret, source: secret }),
      `${secret} {"a":"${secret}", ${secret}}`,
    ]) {
      const { message, path, details, next } = refusalOf(text);
      assert.ok(!JSON.stringify([message, path, details, next]).includes(secret));
    }
  });
});

describe('a value of any type', () => {
  it('is an envelope or a coded refusal', () => {
    verifies('packages.parse.values');
    assert.equal(parseEnvelope(JSON.parse(good())).action, 'record_input');
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new TypeError('no');
        },
        ownKeys: () => {
          throw new TypeError('no');
        },
      },
    );
    for (const value of [
      undefined,
      null,
      0,
      Number.NaN,
      true,
      Symbol('x'),
      10n,
      () => 1,
      [],
      {},
      new Map(),
      new Date(0),
      cyclic,
      hostile,
      new Uint8Array(0),
    ]) {
      refusalOf(value);
    }
  });
});
