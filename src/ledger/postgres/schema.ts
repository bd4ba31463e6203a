/**
 * The tables of the PostgreSQL store, all in one schema, and the functions and triggers that keep them.
 *
 * `events` is keyed by record and revision and knows no order between records: units of work on unrelated records share
 * no row. Their place in the one order is a row of `log`, written with them, or by the sequencer from the queue
 * `unsequenced`. Ids and keys are compared byte by byte (collation "C"), as the program does.
 * Source: spec ledger (what it stores, the log, backends); docs/decisions/0006.
 */

/** The role of gates, and the one of auditors. `migrate` makes them; whoever logs in is made a member of one. */
export const GATE_ROLE = 'countersign_gate';
export const READER_ROLE = 'countersign_reader';

const TABLES = `
  CREATE TABLE countersign.meta (name text PRIMARY KEY, value text NOT NULL);
  CREATE TABLE countersign.events (
    kind text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, revision integer NOT NULL,
    type text NOT NULL, at bigint NOT NULL, actor text NOT NULL, data text NOT NULL, payloads text NOT NULL,
    prev text, hash text NOT NULL,
    PRIMARY KEY (kind, id, revision)
  );
  CREATE TABLE countersign.records (
    kind text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, revision integer NOT NULL,
    head text NOT NULL, head_at bigint NOT NULL, version integer NOT NULL, document text,
    project text COLLATE "C", status text COLLATE "C", principal text COLLATE "C", due bigint,
    lookup text COLLATE "C",
    PRIMARY KEY (kind, id)
  ) WITH (fillfactor = 70);
  CREATE INDEX records_project ON countersign.records (kind, project, id) WHERE project IS NOT NULL;
  CREATE INDEX records_waiting ON countersign.records (kind, due, id) WHERE due IS NOT NULL;
  CREATE INDEX records_lookup ON countersign.records (kind, lookup, id) WHERE lookup IS NOT NULL;
  CREATE TABLE countersign.claims (
    scope text COLLATE "C" NOT NULL, principal text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL,
    command text NOT NULL, kind text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, revision integer NOT NULL,
    PRIMARY KEY (scope, principal, key)
  );
  CREATE TABLE countersign.payloads (
    kind text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, revision integer NOT NULL, address text NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (kind, id, revision, address)
  );
  CREATE TABLE countersign.unsequenced (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, revision integer NOT NULL
  ) WITH (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
  CREATE TABLE countersign.log (
    sequence bigint PRIMARY KEY,
    kind text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, revision integer NOT NULL, log_hash text NOT NULL
  );
  CREATE TABLE countersign.leases (
    name text COLLATE "C" PRIMARY KEY, gate text COLLATE "C" NOT NULL, until timestamptz NOT NULL
  );
`;

const TRIGGERS = `
  CREATE FUNCTION countersign.stay() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS
    $$ BEGIN RAISE EXCEPTION 'events and the log never change' USING ERRCODE = 'restrict_violation'; END $$;
  CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE ON countersign.events
    FOR EACH ROW EXECUTE FUNCTION countersign.stay();
  CREATE TRIGGER events_whole BEFORE TRUNCATE ON countersign.events
    FOR EACH STATEMENT EXECUTE FUNCTION countersign.stay();
  CREATE TRIGGER log_stay BEFORE UPDATE OR DELETE ON countersign.log
    FOR EACH ROW EXECUTE FUNCTION countersign.stay();
  CREATE TRIGGER log_whole BEFORE TRUNCATE ON countersign.log
    FOR EACH STATEMENT EXECUTE FUNCTION countersign.stay();
`;

/** What is delivered to others. Nothing of it is an event. */
const OUTBOX = `
  CREATE TABLE countersign.outbox (
    key text COLLATE "C" PRIMARY KEY, channel text NOT NULL, notice text NOT NULL, body text NOT NULL,
    put bigint NOT NULL, until bigint NOT NULL, state text NOT NULL, tries integer NOT NULL, due bigint NOT NULL,
    ended bigint, code text
  ) WITH (fillfactor = 70);
  CREATE INDEX outbox_due ON countersign.outbox (channel, due, key) WHERE state = 'waiting';
  CREATE INDEX outbox_ended ON countersign.outbox (ended) WHERE ended IS NOT NULL;
  CREATE TABLE countersign.cursors (name text COLLATE "C" PRIMARY KEY, sequence bigint NOT NULL);
`;

/** Looked up by the key alone, so that no other index, which begins with the kind as well, is ever taken instead. */
const LOOKUP = `
  DROP INDEX IF EXISTS countersign.records_lookup;
  CREATE INDEX records_lookup ON countersign.records (lookup, kind, id) WHERE lookup IS NOT NULL;
`;

/** Forward-only, each run in the transaction of the migration; their number is the version of the schema. */
export const MIGRATIONS: readonly string[] = [`${TABLES}${TRIGGERS}`, OUTBOX, LOOKUP];

/** The triggers without which a store is damaged, by table and name. */
export const TRIGGER_NAMES = ['events events_stay', 'events events_whole', 'log log_stay', 'log log_whole'];

/** What each role may do. Granted anew by every migration. */
export const GRANTS = `
  REVOKE ALL ON SCHEMA countersign FROM PUBLIC;
  GRANT USAGE ON SCHEMA countersign TO ${GATE_ROLE}, ${READER_ROLE};
  GRANT SELECT ON ALL TABLES IN SCHEMA countersign TO ${GATE_ROLE}, ${READER_ROLE};
  GRANT INSERT ON countersign.events, countersign.records, countersign.claims, countersign.payloads,
    countersign.unsequenced, countersign.log, countersign.leases, countersign.outbox, countersign.cursors
    TO ${GATE_ROLE};
  GRANT UPDATE ON countersign.records, countersign.leases, countersign.outbox, countersign.cursors TO ${GATE_ROLE};
  GRANT DELETE ON countersign.unsequenced, countersign.payloads, countersign.leases, countersign.outbox
    TO ${GATE_ROLE};
`;
