/**
 * Small statements that the server hands out and takes back: who is signed in, and which challenge it asked for. Each
 * is readable by whoever holds it, and made by this gate alone: HMAC-SHA-256 under a key of its own, for one purpose.
 * Source: spec authority (identity of the ledger: one key per purpose), doors (sessions).
 */
import { existsSync } from 'node:fs';
import * as z from 'zod';
import { FILE_REASONS, readPlainFile, textOf } from '../connectors/index.js';
import {
  base64urlDecode,
  base64urlEncode,
  bytesToHex,
  canonicalize,
  equalBytes,
  Fault,
  hexToBytes,
  hmacSha256,
  type JsonObject,
  parseJson,
  type Random,
  utf8Decode,
} from '../core/index.js';
import { writePrivate } from './init.js';

export type Purpose = 'session' | 'sign-in' | 'enrol' | 'claim';

const Dated = z.looseObject({ purpose: z.string(), exp: z.int() });
const TEXT_MAX = 2_048;

export class Sealer {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** `exp` are milliseconds since the epoch. */
  seal(purpose: Purpose, exp: number, said: JsonObject): string {
    const body = base64urlEncode(new TextEncoder().encode(canonicalize({ ...said, purpose, exp })));
    return `${body}.${base64urlEncode(this.#mac(body))}`;
  }

  /** What was sealed for this purpose and is not over; undefined for everything else. */
  unseal(purpose: Purpose, now: number, text: string): JsonObject | undefined {
    if (text.length > TEXT_MAX) return undefined;
    const [body = '', mac = '', ...rest] = text.split('.');
    const given = base64urlDecode(mac);
    if (rest.length > 0 || given === undefined || !equalBytes(given, this.#mac(body))) return undefined;
    const bytes = base64urlDecode(body);
    const decoded = bytes === undefined ? undefined : utf8Decode(bytes);
    const said = Dated.safeParse(decoded === undefined ? undefined : parseJson(decoded));
    if (!said.success || said.data.purpose !== purpose || now >= said.data.exp) return undefined;
    return said.data as JsonObject;
  }

  #mac(body: string): Uint8Array {
    return hmacSha256(this.#key, `countersign-sealed/1\0${body}`);
  }
}

/**
 * The key of a file of the home; made where there is none, because whoever deletes it ends sessions and nothing else.
 * Faults `store` for a file that can't be read.
 */
export function sealerOf(path: string, random: Random): Sealer {
  if (!existsSync(path)) {
    try {
      writePrivate(path, `${bytesToHex(random.bytes(32))}\n`);
    } catch (error) {
      // Another process may have made it in this moment.
      if (!existsSync(path)) throw new Fault('store', 'the key of sessions could not be made', error);
    }
  }
  const read = readPlainFile(path, 1_024);
  if (!read.ok) throw new Fault('store', `the key of sessions ${FILE_REASONS[read.reason]}`, read.cause);
  const key = hexToBytes(textOf(read.bytes).trim());
  if (key?.length !== 32) throw new Fault('store', 'the key of sessions is none');
  return new Sealer(key);
}
