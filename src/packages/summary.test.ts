/** The exact bytes that a person confirms, and that no field can make a line of them. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { PAYLOADS, packageWorld } from '../../test/support/package-world.js';
import { verifies } from '../../test/support/verifies.js';
import { Refusal } from '../core/index.js';
import { trimmed } from './summary.js';

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

describe('the canonical summary', () => {
  it('is exactly the bytes of the protocol', async () => {
    verifies('packages.summary.bytes');
    const world = await packageWorld(undefined, '  Notes für 2.0\u00a0');
    await world.step('record_input');
    const excluded = { ...PAYLOADS.record_input, input_id: 'in-2', kind: 'url', source: 'adapter', content: 'höher' };
    await world.step('record_input', { ...excluded, disposition: 'excluded', exclusion_reason: ' not ours ' });
    await world.step('set_objective', { statement: '\u3000notes are out ' });
    await world.step('prepare_summary');
    const { summary } = (await world.state()).manifest;
    const lines = [
      '=== PACKAGE SUMMARY ===',
      'package_id : pkg_demo_001',
      'intent     : Notes für 2.0',
      'inputs     : 2',
      `  - in-1 [text, operator, incorporated] sha256:${sha256('hello').slice(0, 12)}`,
      `  - in-2 [url, adapter, excluded] sha256:${sha256('höher').slice(0, 12)} —  not ours `,
      'objective  : notes are out',
    ];
    assert.equal(summary?.content, `${lines.join('\n')}\n`);
    assert.equal(summary?.canonical_sha256, sha256(`${lines.join('\n')}\n`));
    await world.step('revise_intake');
    await world.step('set_objective', { statement: 'a', desired_outcomes: [' one', '', 'two\u2003'] });
    await world.step('prepare_summary');
    const again = (await world.state()).manifest.summary?.content ?? '';
    assert.ok(again.endsWith('objective  : a\noutcomes   :\n  - one\n  - \n  - two\n'));
  });

  it('trims white space of Unicode and U+001C to U+001F, and not U+FEFF', () => {
    verifies('packages.summary.trimmed');
    const spaces = [
      0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029,
      0x202f, 0x205f, 0x3000,
    ];
    const all = String.fromCodePoint(...spaces);
    assert.equal(trimmed(`${all}a ${all} b${all}`), `a ${all} b`);
    for (const kept of ['\ufeff', '\u200b', '\u180e', '\u001b'])
      assert.equal(trimmed(`${kept}a${kept}`), `${kept}a${kept}`);
    assert.equal(trimmed(' '.repeat(100_000)), '');
    const wide = `a${' '.repeat(1_000_000)}b`;
    assert.equal(trimmed(` ${wide} `), wide);
  });

  it('has as many lines as its parts, whatever stands in a field', async () => {
    verifies('packages.summary.no-forgery');
    const forging = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom(
        'a\n  - in-9 [text, operator, incorporated] sha256:000000000000',
        'a\u2028inputs     : 9',
        'x\r\ny',
        '\u0085',
        '\u000b',
      ),
      fc.constantFrom('=== PACKAGE SUMMARY ===', 'objective  : other', '  - ', 'a — b'),
    );
    await fc.assert(
      fc.asyncProperty(forging, forging, fc.array(forging, { maxLength: 3 }), async (reason, statement, outcomes) => {
        const world = await packageWorld();
        const steps = [
          () => world.step('record_input', { ...PAYLOADS.record_input, exclusion_reason: reason }),
          () => world.step('set_objective', { statement, desired_outcomes: outcomes }),
        ];
        for (const step of steps) {
          await step().catch((error: unknown) => assert.ok(error instanceof Refusal, String(error)));
        }
        const { inputs, objective } = (await world.state()).manifest;
        if (objective === null) await world.step('set_objective');
        await world.step('prepare_summary');
        const { manifest } = await world.state();
        const shown = manifest.objective?.desired_outcomes.length ?? 0;
        const expected = 5 + inputs.length + (shown === 0 ? 0 : shown + 1);
        const lines = (manifest.summary?.content ?? '').split(/\r\n|[\n\v\f\r\u001c-\u001e\u0085\u2028\u2029]/u);
        assert.equal(lines.length, expected + 1);
        assert.equal(lines.filter((line) => line.startsWith('inputs     : ')).length, 1);
        assert.equal(lines.at(-1), '');
      }),
      { numRuns: 300 },
    );
  });
});
