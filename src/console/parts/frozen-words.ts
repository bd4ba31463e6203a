/** What is frozen, in words. */
import type { FrozenRow } from '../documents.js';
import { shown } from '../words.js';

export function frozenWords({ scope, name }: FrozenRow): string {
  return scope === 'all' ? 'everything' : `${scope} ${shown(name)}`;
}
