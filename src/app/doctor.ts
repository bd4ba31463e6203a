/**
 * Whether a gate is fit to work: store, configuration, clock, connectors, approvers, keys, and what an agent could do
 * around the gate. Each finding says how to mend it.
 * Source: spec doors (configuration).
 */
import { existsSync, statSync } from 'node:fs';
import { Refusal } from '../core/index.js';
import { personKind } from '../identity/index.js';
import { policyVersion } from '../policy/index.js';
import type { CountersignGate } from './open.js';
import { readTrustFile } from './trust-file.js';

export type Finding = {
  readonly name: string;
  readonly level: 'ok' | 'warning' | 'problem';
  readonly found: string;
  /** How to mend it; empty where nothing is to be mended. */
  readonly next: string;
};

export async function examine(gate: CountersignGate): Promise<readonly Finding[]> {
  const parts = [store, clock, configuration, connectors, approvers, keys, around];
  const findings: Finding[] = [];
  for (const part of parts) findings.push(...(await part(gate)));
  return findings;
}

function finding(name: string, level: Finding['level'], found: string, next = ''): Finding {
  return { name, level, found, next };
}

async function store(gate: CountersignGate): Promise<Finding[]> {
  const head = await gate.ledger.head();
  const barrier = gate.services.launchBarrier();
  const { demo, epoch } = await gate.identity();
  return [
    finding('store', 'ok', `${head.sequence} events, epoch ${epoch}, written through to disk at every commit`),
    ...(barrier === undefined ? [] : [finding('store', 'problem', barrier.message, 'countersign restore')]),
    ...(demo
      ? [finding('ledger', 'warning', 'this is the ledger of a demonstration', 'countersign init for a real one')]
      : []),
  ];
}

async function clock(gate: CountersignGate): Promise<Finding[]> {
  const { sequence } = await gate.ledger.head();
  const [last] = sequence === 0 ? [] : await gate.ledger.log(sequence - 1);
  const behindMs = (last?.event.at ?? 0) - gate.services.clock.now();
  if (behindMs <= 5_000) return [finding('clock', 'ok', 'not behind the ledger')];
  const seconds = Math.round(behindMs / 1_000);
  return [
    finding('clock', 'problem', `${seconds} s behind the last event of the ledger`, 'set the clock of this machine'),
  ];
}

async function configuration(gate: CountersignGate): Promise<Finding[]> {
  const { version, config } = gate.services.trust();
  const found: Finding[] = [];
  try {
    const fromFile = policyVersion(await readTrustFile(gate.home.trustFile));
    found.push(
      fromFile === version
        ? finding('configuration', 'ok', `version ${version}`)
        : finding('configuration', 'warning', 'the file differs from the active version', 'countersign config diff'),
    );
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    found.push(finding('configuration', 'problem', error.message, `correct ${gate.home.trustFile}`));
  }
  if (config.policy.allow_unattended_irreversible) {
    found.push(
      finding('policy', 'warning', 'every risk may run without a person', 'remove allow_unattended_irreversible'),
    );
  }
  if (config.approvals.length === 0) {
    found.push(
      finding('approval rules', 'problem', 'no rule: nobody may approve anything', 'add a rule, then config apply'),
    );
  }
  return found;
}

async function connectors(gate: CountersignGate): Promise<Finding[]> {
  const names = Object.keys(gate.services.trust().config.connectors);
  if (names.length === 0) {
    return [
      finding('connectors', 'warning', 'none is configured', `add one to ${gate.home.trustFile}, then config apply`),
    ];
  }
  const { services } = gate;
  return Promise.all(
    names.map(async (name) => {
      const connector = services.connector(name);
      if (connector === undefined)
        return finding(`connector ${name}`, 'problem', 'it could not be opened', 'see its configuration');
      const problem = await connector.check?.();
      return problem === undefined
        ? finding(`connector ${name}`, 'ok', connector.operations.join(', '))
        : finding(`connector ${name}`, 'problem', problem, 'correct its configuration');
    }),
  );
}

async function approvers(gate: CountersignGate): Promise<Finding[]> {
  const { rows } = await gate.ledger.list({ kind: 'person', statuses: ['active'] });
  const roles = await Promise.all(
    rows.map(async ({ id }) => (await gate.ledger.read(personKind, id))?.state.roles ?? []),
  );
  if (!(await gate.identity()).bootstrapped) {
    const next = 'countersign approver key NAME, in a terminal';
    return [finding('approvers', 'problem', 'nobody is confirmed: nothing that needs a person can run', next)];
  }
  const count = roles.filter((known) => known.includes('approver')).length;
  return [finding('approvers', 'ok', `${count} confirmed; a software key signs here (ed25519)`)];
}

async function keys(gate: CountersignGate): Promise<Finding[]> {
  const { home } = gate;
  return [home.threadKey, home.store].flatMap((path) => {
    const open = existsSync(path) && (statSync(path).mode & 0o077) !== 0;
    return open ? [finding('files', 'problem', `${path} can be read by others`, `chmod 600 ${path}`)] : [];
  });
}

async function around(): Promise<Finding[]> {
  const found = 'an agent that runs as this user can read what this user can: its keys, repositories and tokens';
  return [finding('around the gate', 'warning', found, 'run agents as another user, see SECURITY.md')];
}
