/**
 * The envelopes that are legal now as tools with JSON Schema, in words that draft-07 and 2020-12 share. The arguments
 * of a tool call are the envelope itself. Pure. Source: spec packages (model binding).
 */
import * as z from 'zod';
import type { Json } from '../core/index.js';
import { type OfferOptions, offersOf } from './offers.js';
import { type ActionName, envelopeSchema, type PackageState } from './schema.js';

export interface EnvelopeTool {
  readonly name: ActionName;
  readonly description: string;
  /** For the whole envelope: the package and the revision to quote are constants in it. */
  readonly inputSchema: { readonly [keyword: string]: Json };
}

/** One tool for each envelope that is accepted now. */
export function toolsFor(state: PackageState, options: OfferOptions = {}): readonly EnvelopeTool[] {
  const { package_id, revision } = state.manifest;
  return offersOf(state, options).flatMap((offer) => {
    if (!('example' in offer)) return [];
    const schema = envelopeSchema(offer.action).extend({
      package_id: z.literal(package_id),
      expected_revision: z.literal(revision),
    });
    const { $schema: _, ...inputSchema } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' });
    const description = `${offer.action} for ${package_id} at revision ${revision}`;
    return [
      {
        name: offer.action,
        description,
        inputSchema: { ...inputSchema, examples: [offer.example] } as unknown as EnvelopeTool['inputSchema'],
      },
    ];
  });
}
