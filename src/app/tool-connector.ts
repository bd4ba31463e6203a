/**
 * The connector of tools: functions of this process that stand behind the gate. A tool exists from the moment it is
 * defined; an action of a tool that this process does not have can't be launched here.
 * Source: spec actions (connectors: tool), doors (embedding).
 */
import type { Connector, Operation } from '../connectors/index.js';
import { Refusal } from '../core/index.js';

export class ToolConnector implements Connector {
  readonly name = 'tool';
  readonly #tools = new Map<string, { readonly definition: object; readonly operation: Operation }>();

  get operations(): readonly string[] {
    return [...this.#tools.keys()];
  }

  async operation(name: string): Promise<Operation | undefined> {
    return this.#tools.get(name)?.operation;
  }

  /**
   * The operation of a definition, made once. Refuses `invalid` for a name that is taken by another one: a digest names
   * the version of a tool, and not the function that runs.
   * INVARIANT: a tool that was defined is never another one (app.tool.once).
   */
  define(name: string, definition: object, make: () => Operation): Operation {
    const known = this.#tools.get(name);
    if (known?.definition === definition) return known.operation;
    if (known !== undefined) throw new Refusal('invalid', 'a tool of this name is defined already', { path: 'name' });
    const operation = make();
    this.#tools.set(name, { definition, operation });
    return operation;
  }
}
