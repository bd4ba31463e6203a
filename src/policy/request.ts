/**
 * One question of policy as Cedar is asked it, and the schema by which its validator checks the policies. Pure.
 *
 * The principal is who proposed, the action names the question and the operation, the resource is the project. An
 * action belongs to the groups `launch` or `launch_unattended`, `connector:NAME` and `operation:CONNECTOR/NAME`.
 * Source: spec authority (policy: two questions).
 */
import { isPlainTarget, type JsonObject } from '../core/index.js';
import { type EncodedArgs, encodeArgs } from './encode.js';
import type { PolicyQuestion } from './question.js';
import { cedarType, type RecordShape } from './shape.js';

export type Question = 'launch' | 'launch_unattended';

const PRINCIPALS: Readonly<Record<string, string>> = { agent: 'Agent', engine: 'Engine', human: 'Human' };

/** An operation with the types of its arguments. */
export interface TypedOperation {
  readonly connector: string;
  readonly operation: string;
  readonly shape: RecordShape;
}

function actionId(question: Question, { connector, operation }: Omit<TypedOperation, 'shape'>): string {
  return `${question} ${connector}/${operation}`;
}

function groupsOf(question: Question, { connector, operation }: Omit<TypedOperation, 'shape'>): readonly string[] {
  return [question, `connector:${connector}`, `operation:${connector}/${operation}`];
}

/** Undefined where the arguments must not be judged. */
export function requestOf(question: Question, asked: PolicyQuestion, shape: RecordShape) {
  const args = encodeArgs(shape, asked.args);
  return args === undefined ? undefined : requestWith(question, asked, args);
}

function requestWith(question: Question, asked: PolicyQuestion, args: EncodedArgs) {
  const [kind = '', name = ''] = split(asked.principal);
  const action = { type: 'Action', id: actionId(question, asked) };
  const parents = groupsOf(question, asked).map((id) => ({ type: 'Action', id }));
  return {
    principal: { type: PRINCIPALS[kind] ?? 'Agent', id: name },
    action,
    resource: { type: 'Project', id: asked.project },
    context: {
      agent: asked.principal,
      on_behalf_of: [...asked.on_behalf_of],
      project: asked.project,
      connector: asked.connector,
      operation: asked.operation,
      class: asked.class,
      target: asked.target,
      target_plain: isPlainTarget(asked.target),
      ...(asked.amount === null ? {} : { amount: asked.amount }),
      ...(asked.currency === null ? {} : { currency: asked.currency }),
      facts_unknown: asked.facts_unknown,
      args: args.value as unknown as Record<string, never>,
      args_unknown: args.isPartial,
    },
    entities: [{ uid: action, attrs: {}, parents }],
  };
}

function split(principal: string): readonly [string, string] {
  const at = principal.indexOf(':');
  return [principal.slice(0, at), principal.slice(at + 1)];
}

const TEXT = { type: 'String' };
const TRUTH = { type: 'Boolean' };

function contextType(shape: RecordShape): object {
  return {
    type: 'Record',
    attributes: {
      agent: TEXT,
      on_behalf_of: { type: 'Set', element: TEXT },
      project: TEXT,
      connector: TEXT,
      operation: TEXT,
      class: TEXT,
      target: TEXT,
      target_plain: TRUTH,
      amount: { type: 'Long', required: false },
      currency: { ...TEXT, required: false },
      facts_unknown: TRUTH,
      args: cedarType(shape),
      args_unknown: TRUTH,
    },
  };
}

/** The schema of these operations; `groups` are names of actions that the policies use besides. */
export function cedarSchema(operations: readonly TypedOperation[], groups: Iterable<string>): JsonObject {
  const names = new Set<string>(['launch', 'launch_unattended', ...groups]);
  const actions: Record<string, object> = {};
  for (const operation of operations) {
    for (const question of ['launch', 'launch_unattended'] as const) {
      const parents = groupsOf(question, operation);
      for (const name of parents) names.add(name);
      actions[actionId(question, operation)] = {
        memberOf: parents.map((id) => ({ id })),
        appliesTo: {
          principalTypes: Object.values(PRINCIPALS),
          resourceTypes: ['Project'],
          context: contextType(operation.shape),
        },
      };
    }
  }
  for (const name of names) actions[name] ??= {};
  const entityTypes = Object.fromEntries([...Object.values(PRINCIPALS), 'Project'].map((name) => [name, {}]));
  return { '': { entityTypes, actions } } as unknown as JsonObject;
}
