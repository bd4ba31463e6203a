/**
 * Whom a notice reaches over which channel: entries of the outbox. Pure.
 *
 * INVARIANT: one entry for the same news, channel and address, whoever makes it: people who share a place hear it
 * there once (notifications.once).
 * Source: spec doors (notifications).
 */
import { canonicalize, type Json, sha256Hex } from '../core/index.js';
import type { NewOutboxEntry } from '../ledger/index.js';
import type { Notice } from './notice.js';
import { type Notifications, noticesOf } from './schema.js';

/** The people of a group by its name. */
export type Groups = Readonly<Record<string, readonly string[]>>;

/** The entries of a notice. `except` is a channel that is not used: the one that does not work. */
export function entriesOf(
  notice: Notice,
  config: Notifications,
  groups: Groups,
  except?: string,
): readonly NewOutboxEntry[] {
  return Object.entries(config.channels).flatMap(([channel, settings]) => {
    if (channel === except || !noticesOf(settings).includes(notice.kind)) return [];
    return addressesOf(notice, config, groups, channel).map((address) => ({
      ...{ key: keyOf(notice, channel, address), channel, notice: notice.kind },
      body: canonicalize({ v: 1, address, notice } as unknown as Json),
      ...{ at: notice.at, until: notice.until },
    }));
  });
}

/** What is for a program goes to the channel itself; what is for people goes to the address of each. */
function addressesOf(notice: Notice, config: Notifications, groups: Groups, channel: string): readonly string[] {
  if (notice.kind === 'settled') return [''];
  const found = Object.entries(config.recipients).flatMap(([who, reached]) => {
    const address = Object.hasOwn(reached, channel) ? reached[channel] : undefined;
    if (address === undefined || !notice.people.some((person) => isMeant(who, person, groups))) return [];
    return [address === true ? '' : address];
  });
  return [...new Set(found)];
}

/** Those of some people who are reached at one address of a channel. */
export function reachedAt(
  people: readonly string[],
  { channel, address }: { readonly channel: string; readonly address: string },
  { recipients }: Notifications,
  groups: Groups,
): readonly string[] {
  const there = Object.entries(recipients).filter(([, reached]) => {
    const place = Object.hasOwn(reached, channel) ? reached[channel] : undefined;
    return place !== undefined && (place === true ? '' : place) === address;
  });
  return people.filter((person) => there.some(([who]) => isMeant(who, person, groups)));
}

/** Whether a recipient of the configuration is, or holds, a person. */
export function isMeant(who: string, person: string, groups: Groups): boolean {
  if (who === 'everybody' || who === person) return true;
  const group = who.startsWith('group:') ? who.slice('group:'.length) : '';
  return Object.hasOwn(groups, group) && groups[group]?.includes(person) === true;
}

function keyOf({ kind, what, id, occasion }: Notice, channel: string, address: string): string {
  return sha256Hex(`countersign-notice/1\0${canonicalize([kind, what, id, occasion, channel, address])}`);
}
