/** The log: one line for each, bounded, harmless on a terminal, without secrets, and silent unless asked. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { verifies } from '../../test/support/verifies.js';
import { Fault, LIMITS, Refusal } from '../core/index.js';
import { makeLog, standardLog } from './log.js';
import { LOG_LEVELS } from './settings.js';

const clock = { now: () => 0, monotonic: () => 0 };

function lines(threshold: (typeof LOG_LEVELS)[number], tell: (log: NonNullable<ReturnType<typeof makeLog>>) => void) {
  const written: string[] = [];
  const log = makeLog(threshold, clock, (line) => written.push(line));
  if (log !== undefined) tell(log);
  return written;
}

describe('the log', () => {
  it('tells what is at least as grave as was asked for, and nothing unless it was', () => {
    verifies('app.log.silent');
    const all = (threshold: (typeof LOG_LEVELS)[number]) =>
      lines(threshold, (log) => {
        for (const level of ['error', 'warn', 'debug'] as const) log.write(level, level);
      }).map((line) => JSON.parse(line).what);
    assert.deepEqual(LOG_LEVELS.map(all), [[], ['error'], ['error', 'warn'], ['error', 'warn', 'debug']]);
    const asked = (value?: string) => standardLog({ folder: undefined, variable: () => value });
    for (const silent of [undefined, '', 'silent']) assert.equal(asked(silent), undefined);
    assert.notEqual(asked('debug'), undefined);
    for (const other of ['DEBUG', 'all', '1']) assert.throws(() => asked(other), { code: 'config_invalid' });
  });

  it('tells a fault once, with every cause behind it and where the last arose', () => {
    verifies('app.log.causes');
    const cause = new Error('the disk is full');
    const fault = new Fault('internal', 'the gate failed', new Fault('store', 'the store failed', cause));
    const written = lines('error', (log) => {
      log.write('error', 'first', fault);
      log.write('error', 'second', fault);
    });
    assert.equal(written.length, 1);
    const { stack, ...line } = JSON.parse(written[0] ?? '');
    assert.deepEqual(line, {
      at: '1970-01-01T00:00:00.000Z',
      level: 'error',
      what: 'first',
      causes: ['Fault [internal]: the gate failed', 'Fault [store]: the store failed', 'Error: the disk is full'],
    });
    assert.match(stack, /log\.test/);
    const refused = lines('debug', (log) => log.write('debug', 'x', new Refusal('invalid', 'no')));
    assert.deepEqual(JSON.parse(refused[0] ?? '').causes, ['Refusal [invalid]: no']);
    for (const thrown of ['text', 7, null, { a: 1 }, [1]]) {
      assert.equal(lines('debug', (log) => log.write('warn', 'x', thrown)).length, 1, String(thrown));
    }
  });

  it('is bounded, holds no secret, and shows nothing on a terminal that is not there', () => {
    verifies('app.log.safe');
    const hostile = 'a\u001b[2J\u202e\u2028\u0085\nghp_0123456789abcdefghijABCDEFGHIJ';
    const [line = ''] = lines('debug', (log) => log.write('warn', hostile, new Error(hostile)));
    assert.match(line, /^[\x20-\x7e]+\n$/);
    assert.ok(!line.includes('ghp_0123456789'));
    assert.match(JSON.parse(line).what, /^a\u001b\[2J.*\[redacted\]$/s);
    for (const length of [LIMITS.logTextCharsMax - 1, LIMITS.logTextCharsMax, LIMITS.logTextCharsMax + 1]) {
      const [told = ''] = lines('debug', (log) => log.write('warn', 'x', ' '.repeat(length)));
      assert.equal(JSON.parse(told).causes[0].length, Math.min(length, LIMITS.logTextCharsMax));
    }
    for (const depth of [LIMITS.logCausesMax - 1, LIMITS.logCausesMax, LIMITS.logCausesMax + 1]) {
      let error = new Error('0');
      for (let level = 1; level < depth; level += 1) error = new Error(String(level), { cause: error });
      const [told = ''] = lines('debug', (log) => log.write('warn', 'x', error));
      assert.equal(JSON.parse(told).causes.length, Math.min(depth, LIMITS.logCausesMax));
    }
  });

  it('never changes what the gate does: it does not throw', () => {
    verifies('app.log.safe');
    const log = makeLog('debug', clock, () => {
      throw new Error('nobody reads');
    });
    const unspeakable = {
      toString() {
        throw new Error('no');
      },
    };
    const cyclic = new Error('a');
    cyclic.cause = cyclic;
    for (const cause of [undefined, unspeakable, cyclic, Symbol('x')]) log?.write('warn', 'x', cause);
  });
});
