/**
 * What the machine itself can do, measured beside the product: syncs to disk, bare durable one-row commits, signatures
 * and hashes. No part of the product is in here but SQLite with the same settings.
 */
import { createHash, generateKeyPairSync, hash, sign, verify } from 'node:crypto';
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

/** Times of one operation in microseconds. */
export function bareCosts() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const digest = createHash('sha256').update('challenge').digest();
  const signature = sign(null, digest, privateKey);
  const kibibyte = 'x'.repeat(1_024);
  return {
    signMicros: microsOf(500, () => sign(null, digest, privateKey)),
    verifyMicros: microsOf(500, () => verify(null, digest, publicKey, signature)),
    hashMicros: microsOf(20_000, () => hash('sha256', kibibyte, 'hex')),
  };
}

function microsOf(calls: number, work: () => unknown): number {
  for (let call = 0; call < calls / 5; call += 1) work();
  const startedAt = process.hrtime.bigint();
  for (let call = 0; call < calls; call += 1) work();
  return Number(process.hrtime.bigint() - startedAt) / calls / 1_000;
}

/** Appending 4 KiB and syncing it, and one-row commits in WAL mode with synchronous = FULL. */
export function bareSyncs(folder: string): { syncsPerSecond: number; commitsPerSecond: number } {
  const path = join(folder, 'syncs');
  const handle = openSync(path, 'w');
  const page = Buffer.alloc(4_096, 1);
  const syncMicros = microsOf(500, () => {
    writeSync(handle, page);
    fdatasyncSync(handle);
  });
  closeSync(handle);
  rmSync(path);
  const database = openBare(join(folder, 'bare.sqlite'));
  const insert = database.prepare('INSERT INTO bare (text) VALUES (?)');
  const row = 'x'.repeat(600);
  const commitMicros = microsOf(500, () => insert.run(row));
  database.close();
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(folder, `bare.sqlite${suffix}`), { force: true });
  return { syncsPerSecond: 1e6 / syncMicros, commitsPerSecond: 1e6 / commitMicros };
}

function openBare(path: string): Database.Database {
  const database = new Database(path);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec('CREATE TABLE bare (id INTEGER PRIMARY KEY, text TEXT NOT NULL)');
  return database;
}
