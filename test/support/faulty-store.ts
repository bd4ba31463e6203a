/**
 * A store that fails when a test wants it to: at the n-th call, once or for ever, before or after the call took effect.
 * What it throws looks like what the platform throws. A store in memory that fails keeps nothing that was not committed.
 * Source: spec reliability (harness C, E, F).
 */
import type { LocalStore } from '../../src/ledger/index.js';
import { StoreDecorator } from './store-decorator.js';

/** The methods that can fail: all that touch the disk in a commit or a read. */
export const FAULTY_METHODS = [
  'begin',
  'commit',
  'rollback',
  'reopen',
  'record',
  'lookup',
  'claim',
  'event',
  'events',
  'payload',
  'tail',
  'log',
  'writeEvent',
  'writePayload',
  'writeClaim',
  'writeRecord',
] as const satisfies readonly (keyof LocalStore)[];

export type FaultyMethod = (typeof FAULTY_METHODS)[number];

export interface FaultPlan {
  /** Counted from 1, over the calls of `method`, or of all methods where none is named. */
  readonly call: number;
  readonly method?: FaultyMethod;
  readonly lasts: 'once' | 'for ever';
  /** `after`: the call took effect, and the caller is told that it failed: a disk that answers too late. */
  readonly when: 'before' | 'after';
  /** Such as `SQLITE_IOERR_FSYNC`, `SQLITE_FULL`, `EIO`. */
  readonly code: string;
}

/** Fails as its plan says. `healed` ends a fault that lasts. */
export class FaultyStore extends StoreDecorator {
  #plan: FaultPlan | undefined;
  #calls = 0;
  #hits = 0;

  /** Begins to count calls anew, for this plan. */
  plan(plan: FaultPlan | undefined): void {
    this.#plan = plan;
    this.#calls = 0;
    this.#hits = 0;
  }

  healed(): void {
    this.#plan = undefined;
  }

  /** How often the plan made a call fail. */
  get hits(): number {
    return this.#hits;
  }

  #fails(method: FaultyMethod): boolean {
    const plan = this.#plan;
    if (plan === undefined || (plan.method !== undefined && plan.method !== method)) return false;
    this.#calls += 1;
    const hit = plan.lasts === 'once' ? this.#calls === plan.call : this.#calls >= plan.call;
    if (hit) this.#hits += 1;
    return hit;
  }

  /** Runs a call of the inner store, failing before or after it where the plan says so. */
  #guarded<Result>(method: FaultyMethod, call: () => Result): Result {
    const failing = this.#fails(method) ? this.#plan : undefined;
    if (failing?.when === 'before') throw failure(failing.code);
    const result = call();
    if (failing !== undefined) throw failure(failing.code);
    return result;
  }

  override begin() {
    return this.#guarded('begin', () => super.begin());
  }
  override commit() {
    this.#guarded('commit', () => super.commit());
  }
  override rollback() {
    this.#guarded('rollback', () => super.rollback());
  }
  override reopen() {
    this.#guarded('reopen', () => super.reopen());
  }
  override record(...parts: Parameters<LocalStore['record']>) {
    return this.#guarded('record', () => super.record(...parts));
  }
  override lookup(...parts: Parameters<LocalStore['lookup']>) {
    return this.#guarded('lookup', () => super.lookup(...parts));
  }
  override claim(...parts: Parameters<LocalStore['claim']>) {
    return this.#guarded('claim', () => super.claim(...parts));
  }
  override event(...parts: Parameters<LocalStore['event']>) {
    return this.#guarded('event', () => super.event(...parts));
  }
  override events(...parts: Parameters<LocalStore['events']>) {
    return this.#guarded('events', () => super.events(...parts));
  }
  override payload(...parts: Parameters<LocalStore['payload']>) {
    return this.#guarded('payload', () => super.payload(...parts));
  }
  override tail() {
    return this.#guarded('tail', () => super.tail());
  }
  override log(...parts: Parameters<LocalStore['log']>) {
    return this.#guarded('log', () => super.log(...parts));
  }
  override writeEvent(...parts: Parameters<LocalStore['writeEvent']>) {
    this.#guarded('writeEvent', () => super.writeEvent(...parts));
  }
  override writePayload(...parts: Parameters<LocalStore['writePayload']>) {
    this.#guarded('writePayload', () => super.writePayload(...parts));
  }
  override writeClaim(...parts: Parameters<LocalStore['writeClaim']>) {
    this.#guarded('writeClaim', () => super.writeClaim(...parts));
  }
  override writeRecord(...parts: Parameters<LocalStore['writeRecord']>) {
    this.#guarded('writeRecord', () => super.writeRecord(...parts));
  }
}

function failure(code: string): Error {
  return Object.assign(new Error('disk I/O error'), { code });
}
