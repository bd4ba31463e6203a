/**
 * How actions end without a launch, and who did what to them, as an audit of the log sees it: a denial stands on a
 * signed one, a withdrawal on its proposer or a person, a changed copy follows, a restore came before its mark.
 * Source: spec actions (transitions), ledger (verify).
 */
import type { ActionContent, ActionState } from '../actions/index.js';
import { personKind } from '../identity/index.js';
import type { LedgerEvent } from '../ledger/index.js';
import type { AuditWorld } from './audit-world.js';
import type { RequestInspection } from './request-inspection.js';

const GATE = 'engine:gate';

export class ClosingInspection {
  readonly #world: AuditWorld;
  readonly #requests: RequestInspection;
  /** Changed copies that have to be proposed next, with what they take the place of. */
  readonly #copies = new Map<string, string>();

  constructor(world: AuditWorld, requests: RequestInspection) {
    this.#world = world;
    this.#requests = requests;
  }

  /** What is wrong with who did this, or with how it ended. */
  see(event: LedgerEvent, { content }: ActionState): readonly string[] {
    const { type, data, actor } = event;
    const by = data['by'] as string | undefined;
    if (type === 'action-interrupted' && content.epoch >= this.#world.epoch) {
      return ['an action was marked as interrupted without a restore'];
    }
    const isGates = /^action-(?:confirmed|failed|outcome-unknown)$|^attempt-settled$|^late-result-recorded$/.test(type);
    if (isGates && actor !== (data['settled_by'] === 'human' ? by : GATE)) return ['somebody else settled this'];
    if (type !== 'action-cancelled') return [];
    switch (data['how']) {
      case 'expired':
        return actor === GATE && by === GATE ? [] : ['somebody else ended this'];
      case 'denied':
      case 'changes_requested':
        return actor === by && this.#requests.useDenial(content, by ?? '')
          ? []
          : ['no signed denial stands behind this'];
      case 'superseded':
        this.#copies.set(String(data['superseded_by']), content.action_id);
        return actor === by && this.#isPerson(by) ? [] : ['who changed this is not registered'];
      default: {
        const may = by === content.proposed_by || (data['via'] === 'session' && this.#isPerson(by));
        return actor === by && may ? [] : ['neither its proposer nor a person took this back'];
      }
    }
  }

  /** What is wrong with who proposed this. */
  proposed({ actor }: LedgerEvent, content: ActionContent): readonly string[] {
    const first = this.#copies.get(content.action_id);
    this.#copies.delete(content.action_id);
    if ((content.revised_from ?? undefined) !== first)
      return ['a changed copy of an action that was not given up for it'];
    const isPersons = content.edited_by !== null || content.replaces !== null;
    const may = isPersons ? actor === content.edited_by || this.#isPerson(actor) : actor === content.proposed_by;
    return may ? [] : ['somebody else proposed this'];
  }

  unfinished(): string | undefined {
    return this.#copies.size === 0 ? undefined : 'an action was given up for a copy that is not there';
  }

  #isPerson(name: string | undefined): boolean {
    return name !== undefined && this.#world.state(personKind, name)?.state === 'active';
  }
}
