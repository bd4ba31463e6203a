/**
 * The active trust configuration, as a record: files are never read while deciding. Pure.
 */
import type { Json } from '../core/index.js';
import type { Kind, LedgerEvent, NewEvent } from '../ledger/index.js';
import { CONFIG_RECORD, policyVersion, type TrustConfig } from './schema.js';

export type ConfigState = {
  /** Digest of the configuration: the `policy_version` of what is proposed under it. */
  readonly version: string;
  readonly config: Json;
  readonly applied_at: number;
  /** The domain of passkeys, of this or of the last configuration that named one. */
  readonly domain: string | null;
};

export const configKind: Kind<ConfigState> = {
  name: 'config',
  version: 2,
  evolve,
  columns: () => ({ status: 'active' }),
};

function evolve(state: ConfigState | undefined, event: LedgerEvent): ConfigState {
  const { version, config } = event.data as { version: string; config: Json };
  const { webauthn } = (config ?? {}) as { webauthn?: { rp_id?: string } };
  return { version, config, applied_at: event.at, domain: webauthn?.rp_id ?? state?.domain ?? null };
}

/** Makes a configuration the active one; `authorization` is the verified receipt, or the bootstrap. */
export function applyConfig(config: TrustConfig, authorization: Json): NewEvent {
  const data = { version: policyVersion(config), config: config as unknown as Json, authorization };
  return { record: CONFIG_RECORD, type: 'configuration-applied', data };
}
