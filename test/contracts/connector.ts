/**
 * The contract that every connector passes, whatever it talks to. A connector's own test hands over a way to make it in
 * a fresh world, and for each operation one valid call, some refused arguments and a count of the effects.
 * Source: spec actions (connectors, launch).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Call, Connector, Operation } from '../../src/connectors/index.js';
import { canonicalize, isOurs, type Json, PATTERNS } from '../../src/core/index.js';
import { verifies } from '../support/verifies.js';

export interface ConnectorCase {
  readonly operation: string;
  readonly target: string;
  /** Arguments that are carried out. Every field of them must show up in the summary. */
  readonly args: Readonly<Record<string, Json>>;
  /** Arguments that the schema refuses; unknown fields are tried anyway. */
  readonly refused: readonly Json[];
  /** Content that the gate holds, by its address. */
  readonly content?: ReadonlyMap<string, Uint8Array>;
  readonly secrets?: ReadonlyMap<string, string>;
  /** How many effects of this action the outside world shows. */
  effects(actionId: string): Promise<number>;
}

/** A connector in a world of its own. */
export interface ConnectorWorld {
  readonly connector: Connector;
  /** The same connector after its code changed. */
  readonly changed?: Connector;
  readonly cases: readonly ConnectorCase[];
  close(): Promise<void>;
}

/** The first action id of every contract world. */
export const ACTION_ID = 'act_01JDXW3Q4R8Y2M5N7P9S0T1V3W';

/** A call as the gate would make it, before any launch. */
export function callOf(subject: ConnectorCase, changes: Partial<Call> = {}): Call {
  return {
    actionId: ACTION_ID,
    attempt: 1,
    project: 'acme',
    operation: subject.operation,
    target: subject.target,
    args: subject.args,
    argsText: canonicalize(subject.args),
    content: async (ref) => subject.content?.get(ref),
    secret: async (name) => subject.secrets?.get(name),
    deadline: Date.now() + 120_000,
    signal: new AbortController().signal,
    idempotencyKey: ACTION_ID,
    ...changes,
  };
}

/** The call as it stands at the launch: snapshot and `prepare` were run. */
export async function readyCall(operation: Operation, call: Call): Promise<Call> {
  const preconditions = await operation.snapshot?.(call);
  const seen = preconditions === undefined ? call : { ...call, preconditions };
  const prepared = await operation.prepare?.(seen);
  return prepared === undefined ? seen : { ...seen, prepared };
}

/** Runs the contract. `make` is called once for each test. */
export function connectorContract(name: string, make: () => Promise<ConnectorWorld>): void {
  /** A test over each case, each in a fresh world. */
  const each = (title: string, check: (operation: Operation, subject: ConnectorCase) => Promise<void>): void => {
    it(title, async () => {
      const { cases, close } = await make();
      await close();
      for (const { operation } of cases) {
        const world = await make();
        const subject = world.cases.find((found) => found.operation === operation);
        const found = await world.connector.operation(operation);
        assert.ok(subject !== undefined && found !== undefined, operation);
        try {
          await check(found, subject);
        } finally {
          await world.close();
        }
      }
    });
  };

  describe(`contract of connector ${name}`, () => {
    it('lists its operations, has a case for each, and knows no other', async () => {
      verifies('connectors.contract.operations');
      const world = await make();
      const cased = world.cases.map((subject) => subject.operation);
      assert.deepEqual([...world.connector.operations].sort(), [...new Set(cased)].sort());
      assert.match(world.connector.name, PATTERNS.operation);
      for (const unknown of ['', 'no-such-operation', 'toString', '__proto__', 'constructor']) {
        assert.equal(await world.connector.operation(unknown), undefined, unknown);
      }
      await world.close();
    });

    it('pins each operation by a digest that is stable and changes with the code', async () => {
      verifies('connectors.contract.digest');
      const [one, two] = [await make(), await make()];
      const seen = new Set<string>();
      for (const operation of one.connector.operations) {
        const digest = (await one.connector.operation(operation))?.digest ?? '';
        assert.match(digest, PATTERNS.sha256);
        assert.equal((await two.connector.operation(operation))?.digest, digest);
        assert.notEqual((await one.changed?.operation(operation))?.digest, digest);
        seen.add(digest);
      }
      assert.equal(seen.size, one.connector.operations.length);
      await one.close();
      await two.close();
    });

    it('finds nothing wrong with itself where it can work, and changes nothing by looking', async () => {
      verifies('connectors.contract.check');
      const world = await make();
      assert.deepEqual((await world.connector.check?.()) ?? [], []);
      for (const subject of world.cases) assert.equal(await subject.effects(ACTION_ID), 0);
      await world.close();
      const problems = (await world.connector.check?.()) ?? [];
      for (const { found, next } of problems) assert.ok(found !== '' && next !== '', 'each says what to do');
    });

    each('classifies and reads facts without throwing, always alike', async (operation, subject) => {
      verifies('connectors.contract.classify');
      const first = operation.classify(subject.args);
      assert.ok(['read', 'reversible', 'irreversible', 'costly'].includes(first));
      assert.equal(operation.classify(subject.args), first);
      assert.deepEqual(operation.facts?.(subject.args), operation.facts?.(subject.args));
      const target = operation.facts?.(subject.args)?.target;
      assert.ok(target === undefined || target === subject.target);
    });

    each('refuses arguments outside of its closed schema', async (operation, subject) => {
      verifies('connectors.contract.schema');
      assert.ok(operation.args.safeParse(subject.args).success);
      const unknownField = { ...subject.args, approved: true };
      const hostile: Json[] = [null, [], 'text', 7, unknownField, ...subject.refused];
      for (const refused of hostile) {
        assert.ok(!operation.args.safeParse(refused).success, JSON.stringify(refused));
      }
    });

    each('says every argument in its summary, always alike', async (operation, subject) => {
      verifies('connectors.contract.summary');
      const call = callOf(subject);
      const lines = operation.summary(call);
      assert.deepEqual(operation.summary(call), lines);
      for (const line of lines) assert.match(line.name, /^[a-z0-9 ]{1,32}$/);
      assert.equal(new Set(lines.map((line) => line.name)).size, lines.length);
      for (const value of Object.values(subject.args)) {
        assert.ok(
          lines.some((line) => line.value === (typeof value === 'string' ? value : canonicalize(value))),
          canonicalize(value),
        );
      }
    });

    each('has no effect before its launch', async (operation, subject) => {
      verifies('connectors.contract.no-early-effect');
      const call = await readyCall(operation, callOf(subject, { attempt: 0 }));
      await operation.preview?.(call);
      assert.deepEqual(await operation.snapshot?.(call), call.preconditions, 'an unchanged world looks the same');
      assert.deepEqual(await operation.prepare?.(call), call.prepared, 'what is prepared is always the same');
      assert.equal(await subject.effects(ACTION_ID), 0);
      assert.notEqual((await operation.reconcile?.(call))?.result, 'confirmed', 'nothing happened yet');
    });

    each('has one effect, which it then finds again', async (operation, subject) => {
      verifies('connectors.contract.effect');
      const call = await readyCall(operation, callOf(subject));
      const outcome = await operation.execute(call);
      assert.equal(outcome.result, 'confirmed', outcome.code);
      assert.equal(await subject.effects(ACTION_ID), 1);
      if (operation.reconcile === undefined) return;
      const found = await operation.reconcile(call);
      assert.equal(found?.result, 'confirmed');
      assert.equal(found?.externalRef, outcome.externalRef);
      assert.equal(await subject.effects(ACTION_ID), 1);
    });

    each('has one effect for one key where it promises so', async (operation, subject) => {
      verifies('connectors.contract.dedupe');
      if (operation.dedupe === 'none') return;
      const call = await readyCall(operation, callOf(subject));
      const twins = await Promise.all([operation.execute(call), operation.execute({ ...call, attempt: 2 })]);
      const third = await operation.execute({ ...call, attempt: 3 });
      for (const outcome of [...twins, third]) {
        assert.equal(outcome.result, 'confirmed', outcome.code);
        assert.equal(outcome.externalRef, third.externalRef);
      }
      assert.equal(await subject.effects(ACTION_ID), 1);
    });

    each('begins nothing once its deadline has passed or it was called off', async (operation, subject) => {
      verifies('connectors.contract.deadline');
      const call = await readyCall(operation, callOf(subject));
      for (const late of [{ deadline: Date.now() - 1 }, { signal: AbortSignal.abort() }]) {
        assert.equal((await settled(operation.execute({ ...call, ...late })))?.result, 'failed');
        assert.equal(await subject.effects(ACTION_ID), 0);
      }
    });
  });
}

/** An outcome; undefined for an error of ours, which the gate takes for `unknown`. Any other error fails the test. */
async function settled(outcome: Promise<{ result: string } | undefined>): Promise<{ result: string } | undefined> {
  try {
    return await outcome;
  } catch (error) {
    assert.ok(isOurs(error), `a foreign error: ${String(error)}`);
    return undefined;
  }
}
