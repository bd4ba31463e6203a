/**
 * What a model is told: the envelopes that are legal now, with their fields, the revision to quote and one example
 * each; and after a refusal, its defects and nothing else. All of it comes from the schema and the machine. Pure.
 * Source: spec packages (model binding).
 */
import type { Refusal } from '../core/index.js';
import { ruleOf } from './fields.js';
import { humanActsOf, type Offer, type OfferOptions, offersOf } from './offers.js';
import { FIELDS, type PackageState, PROTOCOL_VERSION } from './schema.js';

/** A text for a model: how to answer, and every envelope that is accepted as it is shown. */
export function promptFor(state: PackageState, options: OfferOptions = {}): string {
  const { manifest } = state;
  const offers = offersOf(state, options);
  const human = options.withHumanActs === true ? [] : humanActsOf(state);
  const lines = [
    `Package ${manifest.package_id} is in state ${manifest.state} at revision ${manifest.revision}.`,
    ...(offers.length === 0
      ? ['It takes no envelope any more.']
      : [
          'To change it, answer with exactly one JSON object, an envelope.',
          'Prose around it is ignored: it does nothing.',
          `Every envelope has protocol_version "${PROTOCOL_VERSION}", package_id "${manifest.package_id}",`,
          `expected_revision ${manifest.revision}, and an action_id of your own that you use once: 1 to 64 characters.`,
          'The same envelope again changes nothing.',
          'These are the envelopes that are legal now. Replace what stands in an example by what you mean.',
        ]),
    ...offers.flatMap(offerLines),
    ...offers.flatMap((offer) => ('missing' in offer ? [`Not yet: ${offer.action}: ${offer.missing.message}.`] : [])),
    ...human.map((action) => `A person does ${action} with their signature; no envelope of yours can.`),
  ];
  return `${lines.join('\n')}\n`;
}

function offerLines(offer: Offer): readonly string[] {
  if (!('example' in offer)) return [];
  const { basis, payload } = FIELDS[offer.action];
  return [
    '',
    `## ${offer.action}`,
    ...fieldLines('basis', basis),
    ...fieldLines('payload', payload),
    JSON.stringify(offer.example),
  ];
}

function fieldLines(part: string, fields: Readonly<Record<string, Parameters<typeof ruleOf>[0]>>): readonly string[] {
  return Object.entries(fields).map(([name, field]) => `- ${part}.${name}: ${ruleOf(field)}`);
}

/** What was wrong with an envelope, for the model that wrote it: every defect once, no word of what it wrote. */
export function correctionFor({ code, message, path, details, next }: Refusal): string {
  const defects = details?.['defects'];
  const listed = Array.isArray(defects)
    ? (defects as readonly string[])
    : [`${path === undefined ? '' : `${path}: `}${message}`];
  const facts = Object.entries(details ?? {}).filter(
    ([name]) => name.startsWith('expected_') || name.startsWith('actual_'),
  );
  return `${[
    `refused [${code}]: nothing changed.`,
    ...listed.map((defect) => `- ${defect}`),
    ...facts.map(([name, value]) => `- ${name}: ${String(value)}`),
    `Next: ${next}.`,
  ].join('\n')}\n`;
}
