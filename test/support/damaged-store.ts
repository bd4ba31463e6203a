/**
 * A store whose bytes change behind the back of its ledger: what a test of a store in memory damages with.
 */
import { type LocalStore, type RecordRef, recordName } from '../../src/ledger/index.js';
import { StoreDecorator } from './store-decorator.js';

type Payload = ReturnType<LocalStore['payload']>;

export class DamagedStore extends StoreDecorator {
  readonly #payloads = new Map<string, Payload>();
  readonly #states = new Map<string, string>();

  damages() {
    return {
      damagePayload: async (ref: RecordRef, revision: number, address: string, bytes: Uint8Array) => {
        this.#payloads.set(`${recordName(ref)}#${revision} ${address}`, bytes);
      },
      erasePayload: async (ref: RecordRef, revision: number, address: string) => {
        this.#payloads.set(`${recordName(ref)}#${revision} ${address}`, undefined);
      },
      damageDocument: async (ref: RecordRef, document: string) => {
        this.#states.set(recordName(ref), document);
      },
    };
  }

  override payload(ref: RecordRef, revision: number, address: string): Payload {
    const name = `${recordName(ref)}#${revision} ${address}`;
    return this.#payloads.has(name) ? this.#payloads.get(name) : super.payload(ref, revision, address);
  }

  override record(ref: RecordRef): ReturnType<LocalStore['record']> {
    return this.#damaged(super.record(ref));
  }

  override *scanRecords(): ReturnType<LocalStore['scanRecords']> {
    for (const row of super.scanRecords()) yield this.#damaged(row) as typeof row;
  }

  #damaged(row: ReturnType<LocalStore['record']>): ReturnType<LocalStore['record']> {
    const document = row === undefined ? undefined : this.#states.get(recordName(row.ref));
    return row === undefined || document === undefined ? row : { ...row, document };
  }
}
