/**
 * Columns of a batch as the binary arrays of the server: written here once and taken over there as they are, where the
 * text form is escaped, and parsed again, for each element. Pure.
 * Source: PostgreSQL, `array_recv` (src/backend/utils/adt/arrayfuncs.c): dimensions, whether there are nulls, the
 * element's type, then length and bounds, then each element behind its length; all numbers big-endian.
 */

/** Types of elements by their number in the server's catalogue. */
const TYPES = { boolean: 16, bytea: 17, int8: 20, int4: 23, text: 25 } as const;

const HEADER = 20;
const NUMBER = 4;
const NULL = -1;

export function textArray(values: readonly (string | null)[]): Buffer {
  let size = HEADER;
  for (const value of values) size += NUMBER + (value === null ? 0 : Buffer.byteLength(value));
  const buffer = headed(size, TYPES.text, values.length, values.includes(null));
  let at = HEADER;
  for (const value of values) {
    const written = value === null ? NULL : buffer.write(value, at + NUMBER);
    buffer.writeInt32BE(written, at);
    at += NUMBER + Math.max(written, 0);
  }
  return buffer;
}

/** Whole numbers of 32 bits. */
export function intArray(values: readonly number[]): Buffer {
  const buffer = headed(HEADER + values.length * 2 * NUMBER, TYPES.int4, values.length, false);
  values.forEach((value, i) => {
    const at = buffer.writeInt32BE(NUMBER, HEADER + i * 2 * NUMBER);
    buffer.writeInt32BE(value, at);
  });
  return buffer;
}

/** Whole numbers that a double holds exactly, or null. */
export function bigintArray(values: readonly (number | null)[]): Buffer {
  const present = values.reduce<number>((count, value) => (value === null ? count : count + 1), 0);
  const size = HEADER + values.length * NUMBER + present * 2 * NUMBER;
  const buffer = headed(size, TYPES.int8, values.length, present < values.length);
  let at = HEADER;
  for (const value of values) {
    at = buffer.writeInt32BE(value === null ? NULL : 2 * NUMBER, at);
    if (value !== null) at = buffer.writeBigInt64BE(BigInt(value), at);
  }
  return buffer;
}

export function booleanArray(values: readonly boolean[]): Buffer {
  const buffer = headed(HEADER + values.length * (NUMBER + 1), TYPES.boolean, values.length, false);
  values.forEach((value, i) => {
    const at = buffer.writeInt32BE(1, HEADER + i * (NUMBER + 1));
    buffer.writeUInt8(value ? 1 : 0, at);
  });
  return buffer;
}

/** Bytes, or texts that stand for their UTF-8. */
export function byteaArray(values: readonly (Uint8Array | string)[]): Buffer {
  let size = HEADER;
  for (const value of values) size += NUMBER + Buffer.byteLength(value);
  const buffer = headed(size, TYPES.bytea, values.length, false);
  let at = HEADER;
  for (const value of values) {
    let written = value.length;
    if (typeof value === 'string') written = buffer.write(value, at + NUMBER);
    else buffer.set(value, at + NUMBER);
    buffer.writeInt32BE(written, at);
    at += NUMBER + written;
  }
  return buffer;
}

/** A buffer with the header of an array of one dimension; an empty array has none. */
function headed(size: number, type: number, count: number, hasNull: boolean): Buffer {
  const buffer = Buffer.allocUnsafe(count === 0 ? HEADER - 2 * NUMBER : size);
  let at = buffer.writeInt32BE(count === 0 ? 0 : 1, 0);
  at = buffer.writeInt32BE(hasNull ? 1 : 0, at);
  at = buffer.writeInt32BE(type, at);
  if (count > 0) buffer.writeInt32BE(1, buffer.writeInt32BE(count, at));
  return buffer;
}
