/**
 * The connector of tools: functions of this process that stand behind the gate. A tool exists from the moment it is
 * defined; an action of a tool that this process does not have can't be launched here.
 * Source: spec actions (connectors: tool), doors (embedding).
 */
import type { Connector, Operation } from '../connectors/index.js';
import { Refusal } from '../core/index.js';

export class ToolConnector implements Connector {
  readonly name = 'tool';
  readonly #operations = new Map<string, Operation>();

  get operations(): readonly string[] {
    return [...this.#operations.keys()];
  }

  async operation(name: string): Promise<Operation | undefined> {
    return this.#operations.get(name);
  }

  /** Refuses `invalid` for a name that is taken by other code. */
  define(name: string, operation: Operation): void {
    const known = this.#operations.get(name);
    if (known !== undefined && known.digest !== operation.digest) {
      throw new Refusal('invalid', `a tool \`${name}\` of another version is defined already`);
    }
    this.#operations.set(name, operation);
  }
}
