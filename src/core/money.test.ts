/** Money as people write it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { verifies } from '../../test/support/verifies.js';
import { moneyText, parseMoney } from './index.js';

test('money is read by the decimals of its currency, and written back alike', () => {
  verifies('policy.money');
  assert.deepEqual(parseMoney('500 EUR'), { amount: 50_000, currency: 'EUR' });
  assert.deepEqual(parseMoney('12.3 EUR'), { amount: 1_230, currency: 'EUR' });
  assert.deepEqual(parseMoney('7 JPY'), { amount: 7, currency: 'JPY' });
  assert.deepEqual(parseMoney('1.234 KWD'), { amount: 1_234, currency: 'KWD' });
  const refused = ['7.1 JPY', '1.234 EUR', '-1 EUR', '01 EUR', '1,00 EUR', '1 eur', '1EUR', '1 EUR\n', '', '1e3 EUR'];
  for (const text of [...refused, '999999999999999999 EUR', '999999999999999 BHD']) {
    assert.equal(parseMoney(text), undefined, text);
  }
  const currency = fc.constantFrom('EUR', 'JPY', 'KWD', 'CLF');
  fc.assert(
    fc.property(fc.nat(1_000_000_000), currency, (amount, name) => {
      assert.deepEqual(parseMoney(moneyText({ amount, currency: name })), { amount, currency: name });
    }),
  );
});
