/**
 * What people and the proposer say about an action: apart from it, so that a word changes nothing that is signed,
 * approved or launched. A comment is no authority. Its text stands as a payload, which can be erased.
 * Source: spec doors (console: comments), authority (a session alone may comment).
 */
import { FREEZE_RECORD, frozenIn } from '../approvals/index.js';
import { contentRef, isWellFormed, LIMITS, Refusal, utf8Decode } from '../core/index.js';
import type { Kind, LedgerEvent, RecordRef } from '../ledger/index.js';
import { actionKind } from './evolve.js';
import type { Caller, Services } from './services.js';

export type CommentState = { readonly count: number };

export interface Comment {
  /** 1, 2, 3 … in the order in which they were made. */
  readonly no: number;
  readonly by: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Null once it was erased. */
  readonly text: string | null;
}

/** All comments of one action, under the action's id. */
export const commentKind: Kind<CommentState> = {
  name: 'comment',
  version: 1,
  evolve: (state) => ({ count: (state?.count ?? 0) + 1 }),
  columns: () => ({}),
};

function commentRecord(actionId: string): RecordRef {
  return { kind: 'comment', id: actionId };
}

/**
 * Adds a comment, in whatever state the action is. Refuses `unknown_action`, `invalid` for a text that is none, empty
 * or longer than 4,096 characters, and `comments` for more than an action takes, `frozen` to agents.
 */
export async function comment(services: Services, caller: Caller, actionId: string, text: string): Promise<Comment> {
  const isText = typeof text === 'string' && isWellFormed(text) && text.trim() !== '';
  if (!isText || text.length > LIMITS.wordsCharsMax) {
    throw new Refusal('invalid', 'a comment is a text of 4,096 characters at most', { path: 'text' });
  }
  const ref = contentRef(text);
  const record = commentRecord(actionId);
  const { events } = await services.ledger.commit({
    actor: caller.principal,
    reads: [FREEZE_RECORD, { kind: 'action', id: actionId }],
    writes: [record],
    decide: (view) => {
      const content = view.get(actionKind, actionId)?.state.content;
      if (content === undefined) return new Refusal('unknown_action', 'there is no such action');
      // People go on talking about what is frozen.
      const own = { ...content, proposed_by: caller.principal };
      const frozen = caller.session === true ? undefined : (frozenIn(view, content) ?? frozenIn(view, own));
      if (frozen !== undefined) return frozen;
      if ((view.get(commentKind, actionId)?.state.count ?? 0) >= LIMITS.commentsMax) {
        return new Refusal('comments', 'the action has as many comments as it takes');
      }
      const via = caller.session === true ? ({ via: 'session' } as const) : {};
      const data = { text_ref: ref, ...via };
      return { events: [{ record, type: 'comment-added', data, payloads: [{ ref, bytes: text }] }], outcome: null };
    },
  });
  const { revision, at, actor } = events[0] as LedgerEvent;
  return { no: revision + 1, by: actor, at, text };
}

/** The comments of an action, the oldest first. Nothing is refused: of no action there are none. */
export async function commentsOf({ ledger }: Pick<Services, 'ledger'>, actionId: string): Promise<readonly Comment[]> {
  const record = commentRecord(actionId);
  const comments: Comment[] = [];
  while (comments.length < LIMITS.commentsMax) {
    const page = await ledger.events(record, comments.length);
    if (page.length === 0) break;
    for (const { revision, actor, at, payloads } of page) {
      const bytes = await ledger.payload(record, revision, payloads[0] ?? '');
      comments.push({
        no: revision + 1,
        by: actor,
        at,
        text: bytes === undefined ? null : (utf8Decode(bytes) ?? null),
      });
    }
  }
  return comments;
}
