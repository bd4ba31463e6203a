/**
 * Statements of a connection by name, each prepared when it is used first: most processes never ask.
 */
import type { Connection, Statement } from './database.js';

export function lazily<Name extends string>(
  database: Connection,
  texts: Readonly<Record<Name, string>>,
): (name: Name) => Statement {
  const prepared = new Map<Name, Statement>();
  return (name) => {
    let statement = prepared.get(name);
    if (statement === undefined) {
      statement = database.prepare(texts[name]);
      prepared.set(name, statement);
    }
    return statement;
  };
}
