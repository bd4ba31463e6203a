/**
 * The tables of the embedded store. An event's row is its place in the log: `sequence` is the rowid, so that the log
 * grows at its end and needs no table of its own; a payload stands under its event's sequence, and grows there too.
 * Triggers refuse to change, replace or delete an event, or to leave a gap.
 * Source: spec ledger (what it stores); docs/decisions/0003.
 */

/** "CSGN" in ASCII: says that a file is ours. */
export const APPLICATION_ID = 0x4353474e;

/** Forward-only, each run in one transaction; the number of those that ran is the schema version of the file. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE events (
    sequence INTEGER PRIMARY KEY,
    kind TEXT NOT NULL, id TEXT NOT NULL, revision INTEGER NOT NULL,
    type TEXT NOT NULL, at INTEGER NOT NULL, actor TEXT NOT NULL,
    data TEXT NOT NULL, payloads TEXT NOT NULL, prev TEXT, hash TEXT NOT NULL, log_hash TEXT NOT NULL,
    UNIQUE (kind, id, revision)
  ) STRICT;
  CREATE TRIGGER events_keep BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events never change'); END;
  CREATE TRIGGER events_follow BEFORE INSERT ON events
    WHEN NEW.sequence IS NOT 1 + ifnull((SELECT max(sequence) FROM events), 0)
      OR EXISTS (SELECT 1 FROM events WHERE kind = NEW.kind AND id = NEW.id AND revision = NEW.revision)
    BEGIN SELECT RAISE(ABORT, 'events are never replaced'); END;
  CREATE TRIGGER events_stay BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
  CREATE TABLE records (
    kind TEXT NOT NULL, id TEXT NOT NULL, revision INTEGER NOT NULL,
    head TEXT NOT NULL, head_at INTEGER NOT NULL, version INTEGER NOT NULL, document TEXT,
    project TEXT, status TEXT, principal TEXT, due INTEGER, lookup TEXT,
    UNIQUE (kind, id)
  ) STRICT;
  CREATE INDEX records_project ON records (kind, project, id) WHERE project IS NOT NULL;
  CREATE INDEX records_waiting ON records (kind, due, id) WHERE due IS NOT NULL;
  CREATE INDEX records_lookup ON records (kind, lookup, id) WHERE lookup IS NOT NULL;
  CREATE TABLE claims (
    scope TEXT NOT NULL, principal TEXT NOT NULL, key TEXT NOT NULL, command TEXT NOT NULL,
    kind TEXT NOT NULL, id TEXT NOT NULL, revision INTEGER NOT NULL,
    PRIMARY KEY (scope, principal, key)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE payloads (
    sequence INTEGER NOT NULL, address TEXT NOT NULL, bytes BLOB NOT NULL,
    PRIMARY KEY (sequence, address)
  ) STRICT, WITHOUT ROWID;
  `,
  // What is delivered to others, and by whom. Nothing of it is an event.
  `
  CREATE TABLE outbox (
    key TEXT PRIMARY KEY, channel TEXT NOT NULL, notice TEXT NOT NULL, body TEXT NOT NULL,
    put INTEGER NOT NULL, until INTEGER NOT NULL, state TEXT NOT NULL, tries INTEGER NOT NULL, due INTEGER NOT NULL,
    ended INTEGER, code TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX outbox_due ON outbox (channel, due, key) WHERE state = 'waiting';
  CREATE INDEX outbox_ended ON outbox (ended) WHERE ended IS NOT NULL;
  CREATE TABLE cursors (name TEXT PRIMARY KEY, sequence INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE leases (name TEXT PRIMARY KEY, gate TEXT NOT NULL, until INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
];
