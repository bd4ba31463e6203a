/**
 * Leases on a server that several gates share: rows beside those of the gates, by the server's clock. Each method is
 * one statement.
 */
import { HELD_MAX, type Leases } from '../leases.js';
import type { Statement } from './connection.js';
import type { AskServer } from './outbox.js';

const named = (name: string, text: string): Statement => ({ name: `lease_${name}`, text });

const HOLD = named(
  'hold',
  `WITH gone AS (DELETE FROM countersign.leases WHERE name IN (SELECT name FROM countersign.leases
      WHERE name LIKE 'waits/%' AND name <> $1 AND until <= clock_timestamp() FOR UPDATE SKIP LOCKED))
    INSERT INTO countersign.leases AS l (name, gate, until)
    VALUES ($1, $2, clock_timestamp() + CAST($3 AS int) * interval '1 ms')
    ON CONFLICT (name) DO UPDATE SET gate = excluded.gate, until = excluded.until
    WHERE l.gate = excluded.gate OR l.until <= clock_timestamp() RETURNING gate`,
);
const RELEASE = named('release', 'DELETE FROM countersign.leases WHERE name = $1 AND gate = $2');
const HELD = named(
  'held',
  `SELECT name FROM countersign.leases WHERE starts_with(name, $1) AND until > clock_timestamp() LIMIT $2`,
);

export function serverLeases(ask: AskServer): Leases {
  return {
    hold: async (name, holder, ms) => (await ask(HOLD, [name, holder, ms])).length === 1,
    release: async (name, holder) => void (await ask(RELEASE, [name, holder])),
    held: async (prefix) => (await ask(HELD, [prefix, HELD_MAX])).map(([name]) => name as string),
  };
}
