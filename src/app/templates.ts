/**
 * Rule packs: policy and approval rules for a kind of work, each with its tests, as files of the package.
 */
import { readFileSync } from 'node:fs';
import { Fault } from '../core/index.js';

export const TEMPLATES = ['solo', 'team', 'payments'] as const;
export type TemplateName = (typeof TEMPLATES)[number];

/** The text of a pack: the parts `policy` and `approvals` of a trust configuration. */
export function readTemplate(name: TemplateName): string {
  try {
    return readFileSync(new URL(`../../templates/${name}.yaml`, import.meta.url), 'utf8');
  } catch (error) {
    throw new Fault('internal', 'a file of this package is missing', error);
  }
}
