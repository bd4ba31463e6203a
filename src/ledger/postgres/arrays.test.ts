import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { testDatabase } from '../../../test/support/postgres.js';
import { verifies } from '../../../test/support/verifies.js';
import { bigintArray, booleanArray, byteaArray, intArray, textArray } from './arrays.js';
import { Connection } from './connection.js';

const rows = (type: string) => ({
  name: `rows of ${type}`,
  text: `SELECT n::${type === 'bytea' ? 'bytea' : 'text'} FROM unnest($1::${type}[]) WITH ORDINALITY AS u(n, at) ORDER BY at`,
});

describe('arrays as the server keeps them', () => {
  it('arrive with every element as it was', async () => {
    verifies('postgres.arrays');
    const { url, drop } = await testDatabase();
    const connection = await Connection.open(url);
    const back = async (type: string, array: Buffer) =>
      (await connection.ask(rows(type), [array])).map(([value]) => value);
    // No text of the server has this character; every other one it has.
    const text = fc.string({ unit: 'binary' }).map((one) => one.replaceAll('\0', ''));
    const own = (value: number | boolean | null) => (value === null ? null : String(value));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.option(text)),
        fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
        fc.array(fc.option(fc.maxSafeInteger())),
        fc.array(fc.boolean()),
        fc.array(fc.oneof(text, fc.uint8Array())),
        async (texts, ints, bigints, booleans, bytes) => {
          assert.deepEqual(await back('text', textArray(texts)), texts);
          assert.deepEqual(await back('int', intArray(ints)), ints.map(own));
          assert.deepEqual(await back('bigint', bigintArray(bigints)), bigints.map(own));
          assert.deepEqual(await back('boolean', booleanArray(booleans)), booleans.map(own));
          assert.deepEqual(
            await back('bytea', byteaArray(bytes)),
            bytes.map((one) => Buffer.from(one as string)),
          );
        },
      ),
      { numRuns: 60 },
    );
    // Half of a pair has no UTF-8: it arrives as every encoder writes it, and nothing behind it is moved.
    assert.deepEqual(await back('text', textArray(['a\ud800', 'b'])), ['a\ufffd', 'b']);
    await connection.end();
    await drop();
  });
});

describe('statements that travel together', () => {
  it('fail with the one that failed, and leave the connection at rest', async () => {
    verifies('postgres.together');
    const { url, drop } = await testDatabase();
    const connection = await Connection.open(url);
    const one = { name: 'one', text: 'SELECT $1::int' };
    const broken = { name: 'broken', text: 'SELECT 1 / $1::int' };
    const never = { name: 'never', text: 'SELECT set_config($1, $2, false)' };
    for (let again = 0; again < 2; again += 1) {
      const asked: Promise<unknown>[] = [];
      const ask = (statement: typeof one, values: (string | number)[]) => {
        asked.push(connection.ask(statement, values));
        return asked.at(-1);
      };
      const together = connection.together(() => [
        ask(one, [7]),
        ask(broken, [0]),
        ask(never, ['countersign.never', 'was run']),
      ]);
      await assert.rejects(together, { code: '22012' });
      const settled = await Promise.allSettled(asked);
      assert.deepEqual(
        settled.map(({ status }) => status),
        ['fulfilled', 'rejected', 'rejected'],
      );
      // What was prepared is prepared, what was not is prepared now, and nothing of the failed ones was run.
      assert.deepEqual(
        await connection.together(() => [
          connection.ask(one, [8]),
          connection.ask(broken, [1]),
          connection.ask({ name: 'was', text: "SELECT current_setting('countersign.never', true)" }),
        ]),
        [[[8]], [[1]], [[null]]],
      );
    }
    await connection.end();
    await drop();
  });

  it('are one transaction also where they are long', async () => {
    verifies('postgres.together');
    const { url, drop } = await testDatabase();
    const connection = await Connection.open(url);
    await connection.script('CREATE TABLE public.long (text text)');
    const write = { name: 'write', text: 'INSERT INTO public.long SELECT * FROM unnest($1::text[])' };
    const long = textArray(['x'.repeat(1_000_000), 'y']);
    const asking = (last: { name: string; text: string }) => () => [
      connection.ask({ name: 'begin', text: 'BEGIN' }),
      connection.ask(write, [long]),
      connection.ask(write, [long]),
      connection.ask(last),
      connection.run({ name: 'commit', text: 'COMMIT' }),
    ];
    const count = { name: 'count', text: 'SELECT count(*)::int FROM public.long' };
    await assert.rejects(connection.together(asking({ name: 'fails', text: "SELECT 'x'::int" })), { code: '22P02' });
    await connection.script('ROLLBACK');
    assert.deepEqual(await connection.ask(count), [[0]]);
    assert.deepEqual((await connection.together(asking(count))).slice(3), [[[4]], 'COMMIT']);
    await connection.end();
    await drop();
  });

  it('that were asked one behind another, without waiting, are answered each for itself', async () => {
    verifies('postgres.together');
    const { url, drop } = await testDatabase();
    const connection = await Connection.open(url);
    const divided = { name: 'divided', text: 'SELECT 12 / $1::int' };
    for (const first of [0, 3]) {
      const answers = await Promise.allSettled([first, 4, 0, 6].map((by) => connection.ask(divided, [by])));
      assert.deepEqual(
        answers.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.code)),
        [first === 0 ? '22012' : [[4]], [[3]], '22012', [[2]]],
      );
    }
    const other = { name: 'divided', text: 'SELECT 13 / $1::int' };
    await assert.rejects(connection.ask(other, [1]), { code: 'internal' });
    await connection.end();
    await drop();
  });
});
