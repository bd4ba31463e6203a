/** What somebody with the rights of the owner can do to a database behind the ledger's back. */
import type { RecordRef } from '../../src/ledger/index.js';
import { onDatabase } from './postgres-server.js';

export function damageDatabase(url: string) {
  return {
    async damagePayload({ kind, id }: RecordRef, revision: number, address: string, bytes: Uint8Array): Promise<void> {
      const text = 'UPDATE countersign.payloads SET bytes = $5 WHERE (kind, id, revision, address) = ($1, $2, $3, $4)';
      await onDatabase(url, text, [kind, id, revision, address, Buffer.from(bytes)]);
    },
    async damageDocument({ kind, id }: RecordRef, document: string): Promise<void> {
      await onDatabase(url, 'UPDATE countersign.records SET document = $3 WHERE (kind, id) = ($1, $2)', [
        kind,
        id,
        document,
      ]);
    },
    async erasePayload({ kind, id }: RecordRef, revision: number, address: string): Promise<void> {
      const text = 'DELETE FROM countersign.payloads WHERE (kind, id, revision, address) = ($1, $2, $3, $4)';
      await onDatabase(url, text, [kind, id, revision, address]);
    },
  };
}
