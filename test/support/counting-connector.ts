/**
 * A connector whose world is a list: it counts every call and every effect, and behaves as a test tells it.
 */
import * as z from 'zod';
import {
  type ActionClass,
  type Call,
  type Connector,
  type Dedupe,
  type Facts,
  type Operation,
  type Outcome,
  operationDigest,
  type Preconditions,
} from '../../src/connectors/index.js';
import { PATTERNS } from '../../src/core/index.js';

const args = z.strictObject({
  text: z.string().optional(),
  account: z.string().optional(),
  amount: z.int().min(0).optional(),
  currency: z.string().regex(PATTERNS.currency).optional(),
  data: z.json().optional(),
});
type Args = z.infer<typeof args>;

const CLASSES: Readonly<Record<string, ActionClass>> = {
  read: 'read',
  note: 'reversible',
  send: 'irreversible',
  guarded: 'irreversible',
  loose: 'irreversible',
  pay: 'costly',
};

export interface Effect {
  readonly actionId: string;
  readonly attempt: number;
  readonly operation: string;
  readonly target: string;
  readonly argsText: string;
}

export class CountingConnector implements Connector {
  readonly name = 'counting';
  readonly operations = Object.keys(CLASSES);
  /** Every call of `execute`, with or without an effect. */
  readonly calls: Call[] = [];
  readonly effects: Effect[] = [];
  /** How often anything was asked before a launch. */
  looks = 0;
  codeVersion = '1';
  /** Whether a repeated call is known as such. */
  dedupe: Dedupe = 'none';
  timeoutMs = 10_000;
  /** What `guarded` sees outside. */
  outside: Preconditions = { head: 'one' };
  missing = false;
  class: ActionClass | undefined;
  /** What a call does; the effect and a confirmation unless a test says otherwise. */
  behave: (call: Call, effect: () => Outcome) => Promise<Outcome> = async (_call, effect) => effect();
  /** What `reconcile` answers. */
  found: (call: Call) => Promise<Outcome | undefined> = async (call) =>
    this.effectsOf(call.actionId) > 0 ? { result: 'confirmed' } : { result: 'failed', code: 'no_effect' };

  async operation(name: string): Promise<Operation | undefined> {
    const floor = Object.hasOwn(CLASSES, name) ? CLASSES[name] : undefined;
    if (floor === undefined || this.missing) return undefined;
    const pin = { connector: this.name, codeVersion: this.codeVersion, operation: name, args };
    return {
      digest: operationDigest(pin),
      args,
      timeoutMs: this.timeoutMs,
      dedupe: this.dedupe,
      classify: () => this.class ?? floor,
      ...(name === 'loose' ? {} : { facts: (given) => factsOf(given as Args) }),
      summary: (call) =>
        Object.entries(call.args).map(([line, value]) => ({ name: line, value: JSON.stringify(value) })),
      ...(name === 'guarded' ? { snapshot: async () => this.#look() } : {}),
      execute: (call) => this.#execute(call),
      reconcile: (call) => this.found(call),
    };
  }

  effectsOf(actionId: string): number {
    return this.effects.filter((effect) => effect.actionId === actionId).length;
  }

  #look(): Preconditions {
    this.looks += 1;
    return this.outside;
  }

  #execute(call: Call): Promise<Outcome> {
    this.calls.push(call);
    return this.behave(call, () => {
      const { actionId, attempt, operation, target, argsText } = call;
      this.effects.push({ actionId, attempt, operation, target, argsText });
      return { result: 'confirmed', externalRef: `effect-${this.effects.length}` };
    });
  }
}

function factsOf({ account, amount, currency }: Args): Facts {
  return {
    ...(account === undefined ? {} : { target: account }),
    ...(amount === undefined || currency === undefined ? {} : { amount: { amount, currency } }),
  };
}
