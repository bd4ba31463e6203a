/** Bytes and their spellings: each byte string has exactly one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { verifies } from '../../test/support/verifies.js';
import * as utf8 from './utf8.js';

test('hex and base64url read back what they wrote, and agree with the platform', () => {
  verifies('core.bytes.one-spelling');
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      assert.equal(utf8.bytesToHex(bytes), Buffer.from(bytes).toString('hex'));
      assert.equal(utf8.base64urlEncode(bytes), Buffer.from(bytes).toString('base64url'));
      assert.deepEqual(utf8.hexToBytes(utf8.bytesToHex(bytes)), bytes);
      assert.deepEqual(utf8.base64urlDecode(utf8.base64urlEncode(bytes)), bytes);
    }),
  );
});

test('whatever decodes is what its bytes encode to', () => {
  verifies('core.bytes.one-spelling');
  const character = fc.constantFrom(...'ABgz09-_+/=. \n'.split(''));
  fc.assert(
    fc.property(fc.string({ unit: character, maxLength: 9 }), (text) => {
      const bytes = utf8.base64urlDecode(text);
      if (bytes !== undefined) assert.equal(utf8.base64urlEncode(bytes), text);
      const fromHex = utf8.hexToBytes(text);
      if (fromHex !== undefined) assert.equal(utf8.bytesToHex(fromHex), text);
    }),
    { numRuns: 5_000 },
  );
});

test('other spellings are refused', () => {
  verifies('core.bytes.one-spelling');
  for (const text of ['AA==', 'AB', 'AAB', 'A', 'AA\n', 'A+A/', 'AAAAA', ' AAA'])
    assert.equal(utf8.base64urlDecode(text), undefined, text);
  for (const text of ['0', 'AA', '0x', 'g0', '00\n', ' 0']) assert.equal(utf8.hexToBytes(text), undefined, text);
  assert.deepEqual(utf8.base64urlDecode(''), new Uint8Array(0));
});

test('UTF-8 is read and written strictly', () => {
  verifies('core.bytes.utf8');
  assert.equal(utf8.utf8Encode('\ud800'), undefined);
  assert.equal(utf8.utf8Decode(Uint8Array.of(0xed, 0xa0, 0x80)), undefined);
  assert.equal(utf8.utf8Decode(Uint8Array.of(0xef, 0xbb, 0xbf, 0x41)), '\ufeffA');
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
      const text = utf8.utf8Decode(bytes);
      if (text !== undefined) assert.deepEqual(utf8.utf8Encode(text), bytes);
      const prefix = utf8.utf8ValidPrefix(bytes);
      assert.equal(prefix === bytes.length, text !== undefined);
      assert.notEqual(utf8.utf8Decode(bytes.subarray(0, prefix)), undefined);
      if (prefix < bytes.length) {
        for (let size = 1; size <= 4; size += 1) {
          if (prefix + size <= bytes.length) assert.equal(utf8.utf8Decode(bytes.subarray(0, prefix + size)), undefined);
        }
      }
    }),
    { numRuns: 20_000 },
  );
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.equal(utf8.utf8Length(text), Buffer.byteLength(text));
    }),
  );
});
