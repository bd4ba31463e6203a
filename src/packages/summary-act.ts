/**
 * The confirmation of a summary as a person signs it: over {package_id, revision, manifest, summary}, shown line by
 * line. Pure. Source: spec packages (who may confirm), authority (receipt kind summary).
 */
import * as z from 'zod';
import type { PartAct } from '../approvals/index.js';
import { digest, type Json, PATTERNS, Refusal } from '../core/index.js';
import type { Manifest, PackageState } from './schema.js';

const BareDigest = z.string().regex(/^[0-9a-f]{64}$(?!\n)/);

/** What the receipt is over. */
export const SummaryAct = z.strictObject({
  package_id: z.string().regex(PATTERNS.package),
  revision: z.int().min(0),
  manifest_sha256: BareDigest,
  summary_sha256: BareDigest,
});
export type SummaryAct = z.infer<typeof SummaryAct>;

export function summaryActDigest(act: SummaryAct): string {
  return digest('countersign-command/1', act as Json);
}

/** The act for a package as it stands. Refuses `GATE_UNSATISFIED` where no summary waits. */
export function summaryActOf({ manifest, manifest_sha256 }: PackageState): SummaryAct {
  const { package_id, revision, summary } = manifest;
  if (summary === null) throw new Refusal('GATE_UNSATISFIED', 'the package has no summary: prepare_summary');
  return { package_id, revision, manifest_sha256, summary_sha256: summary.canonical_sha256 };
}

/** The act with every line of the summary, as it is shown to `approver`'s eyes and signed. */
export function partActOf(act: SummaryAct, { summary }: Manifest): PartAct {
  const line = (name: string, value: string) => ({ name, value });
  const text = (summary?.content ?? '').split('\n').slice(0, -1);
  return {
    kind: 'summary',
    subject: act.package_id,
    digest: summaryActDigest(act),
    document: act as Json,
    lines: [
      line('act', 'confirm the summary of a package'),
      line('package', act.package_id),
      line('revision', String(act.revision)),
      line('manifest', act.manifest_sha256),
      line('summary', act.summary_sha256),
      ...text.map((one, at) => line(`summary ${at + 1}`, one)),
      line('effect', 'a draft may be written on this summary'),
    ],
  };
}
