/**
 * The active trust configuration of this process, and the connectors that it names. It comes from the ledger, and is
 * read again when another process applied a newer one.
 */
import type { ActiveTrust } from '../actions/index.js';
import { type Connector, type ConnectorHost, openConnectors } from '../connectors/index.js';
import { Fault, Refusal } from '../core/index.js';
import type { Ledger } from '../ledger/index.js';
import { CONFIG_RECORD, configKind, policyVersion, TrustConfig } from '../policy/index.js';

export class Trust {
  readonly #ledger: Ledger;
  readonly #host: ConnectorHost;
  readonly #extra: ReadonlyMap<string, Connector>;
  #active: ActiveTrust | undefined;
  #connectors: ReadonlyMap<string, Connector> = new Map();

  /** `extra` are connectors of this process, such as its tools; the configuration can't replace them. */
  constructor(ledger: Ledger, host: ConnectorHost, extra: ReadonlyMap<string, Connector>) {
    this.#ledger = ledger;
    this.#host = host;
    this.#extra = extra;
  }

  /**
   * Refuses `not_initialized` for a ledger without a configuration, `config_invalid` for one that is not understood.
   */
  async reload(): Promise<void> {
    const snapshot = await this.#ledger.readVerified(configKind, CONFIG_RECORD.id);
    if (snapshot === undefined) {
      const next = 'move the home away, then run `countersign init` again';
      throw new Refusal('not_initialized', 'the ledger has no trust configuration: it was never finished', { next });
    }
    if (snapshot.head === this.#active?.head) return;
    const parsed = TrustConfig.safeParse(snapshot.state.config);
    if (!parsed.success) throw new Fault('corrupt', 'the active configuration is not understood by this version');
    // INVARIANT: nothing is judged by a configuration that is not the one of its version (policy.version.checked).
    if (policyVersion(parsed.data) !== snapshot.state.version) {
      throw new Fault('corrupt', 'the active configuration is not the one of its version');
    }
    this.#connectors = openConnectors(parsed.data.connectors, this.#host);
    this.#active = { config: parsed.data, version: snapshot.state.version, head: snapshot.head };
  }

  active(): ActiveTrust {
    if (this.#active === undefined) throw new Fault('internal', 'the trust configuration was never read');
    return this.#active;
  }

  connector(name: string): Connector | undefined {
    return this.#extra.get(name) ?? this.#connectors.get(name);
  }

  connectors(): readonly Connector[] {
    return [...this.#extra.values(), ...this.#connectors.values()];
  }
}
