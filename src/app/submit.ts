/**
 * A signed receipt that is handed in, by what it is for: an approval is kept with its request until it counts, a denial
 * ends its action at once, and an act is carried out as soon as as many people have signed it as have to.
 * Source: spec authority (request and receipt; human acts).
 */
import {
  attachReceipt,
  type Caller,
  isResolution,
  parseReceipt,
  resolve,
  type Services,
  storeReceipt,
} from '../actions/index.js';
import { carryOut } from '../approvals/index.js';
import { Refusal } from '../core/index.js';
import type { GateHome } from './gate-home.js';
import type { GatePackages, Submitted } from './gate-packages.js';
import { interruptOpen } from './restore.js';

interface Door {
  readonly services: Services;
  readonly caller: Caller;
  readonly packages: GatePackages;
}

export async function submitReceipt(
  { services, caller, packages }: Door,
  home: GateHome | undefined,
  value: unknown,
): Promise<Submitted> {
  const receipt = parseReceipt(value);
  const { request } = receipt;
  const { kind, request_id, subject } = request;
  if (request.kind === 'action') {
    if (request.decision !== 'deny') return storeReceipt(services, caller, receipt);
    // INVARIANT: nothing is launched behind a denial that the gate was given (authority.deny.at-once).
    await attachReceipt(services, caller, subject, receipt);
    return { request_id, action_id: subject };
  }
  if (kind === 'summary') return { request_id, applied: await packages.confirm(receipt) };
  if (isResolution(kind)) return resolve(services, receipt);
  const { act, missing } = await carryOut(services, receipt);
  if (missing > 0) return { request_id, missing };
  if (act.kind === 'config') await reload(services);
  if (act.kind === 'restore') {
    await interruptOpen(services);
    await home?.accepted();
  }
  return { request_id, act };
}

/** After a change was carried out: where it takes this caller's leave away, the next verb says so, not this one. */
async function reload(services: Services): Promise<void> {
  try {
    await services.reloadTrust();
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'forbidden') throw error;
  }
}
