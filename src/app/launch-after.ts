/**
 * The launch that follows an approval by itself, where the rule of the action says so.
 * Source: spec authority (approval rules: launch).
 */
import { type Attached, actionKind, type Caller, execute, type Services, type Settled } from '../actions/index.js';
import { ruleFor } from '../approvals/index.js';
import { Refusal } from '../core/index.js';
import { demandScope } from './scope.js';

/** What a receipt made of its action, and the outcome where the rule launches at once. */
export type Approved = Attached & { readonly settled?: Settled; readonly refused?: string };

/**
 * Where the rule says so, the last approval launches at once; a launch that is refused leaves the action approved.
 */
export async function launchedBy(services: Services, caller: Caller, attached: Attached): Promise<Approved> {
  const { action_id } = attached;
  const { config } = services.trust();
  const mayLaunch = config.approvals.some(({ launch }) => launch === 'on_approval');
  if (attached.state !== 'approved' || !mayLaunch) return attached;
  const state = (await services.ledger.read(actionKind, action_id))?.state;
  if (state === undefined) return attached;
  const subject = { ...state.content, factsUnknown: state.content.flags.includes('facts_unknown') };
  if (ruleFor(config, subject)?.launch !== 'on_approval') return attached;
  try {
    // A person who is signed in launches nothing: what was signed does, as the rule says.
    if (caller.session !== true) await demandScope(services, caller, 'execute', { actionId: action_id });
    const settled = await execute(services, caller, action_id);
    return { ...attached, state: settled.state, settled };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ...attached, refused: error.code };
  }
}
