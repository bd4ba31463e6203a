/** The vectors of the protocol, which another implementation made. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import canonicalizeOfLibrary from 'canonicalize';
import { packageWorld } from '../../test/support/package-world.js';
import { verifies } from '../../test/support/verifies.js';
import { ownVector } from '../../vectors/read.js';
import { type Json, Refusal } from '../core/index.js';
import { createPackage } from './apply.js';
import { parseEnvelope } from './parse.js';
import { replayPackage } from './replay.js';

interface Step {
  readonly at_ms: number;
  readonly envelope: Json;
  readonly state: string;
  readonly manifest_sha256: string;
  readonly summary?: string;
  readonly summary_sha256?: string;
}

interface Life {
  readonly package_id: string;
  readonly intent: string;
  readonly created_at_ms: number;
  readonly manifest_sha256: string;
  readonly steps: readonly Step[];
  readonly last_manifest: Json;
}

function casesOf<Case>(name: string): readonly Case[] {
  return ownVector<{ readonly cases: readonly Case[] }>(`packages/${name}.json`).cases;
}

it('a package lives through the vectors as they say, byte for byte', async () => {
  verifies('packages.vectors');
  for (const life of casesOf<Life>('lives')) {
    const { services, clock, apply, state } = await packageWorld();
    const { package_id, intent } = life;
    clock.wall = life.created_at_ms;
    const created = await createPackage(services, 'agent:bot', { package_id, intent });
    assert.equal(created.manifest_sha256, life.manifest_sha256);
    for (const step of life.steps) {
      clock.wall = step.at_ms;
      const applied = await apply(canonicalizeOfLibrary(step.envelope));
      assert.deepEqual([applied.state, applied.manifest_sha256], [step.state, step.manifest_sha256]);
      if (step.summary === undefined) continue;
      const { summary } = (await state(package_id)).manifest;
      assert.deepEqual([summary?.content, summary?.canonical_sha256], [step.summary, step.summary_sha256]);
    }
    assert.deepEqual((await state(package_id)).manifest, life.last_manifest);
    assert.deepEqual(await replayPackage(services.ledger, package_id), { revisions: life.steps.length + 1, erased: 0 });
  }
});

it('a text of the vectors is one envelope, or is refused', () => {
  verifies('packages.vectors');
  for (const { what, text } of casesOf<{ what: string; text: string }>('accepted'))
    assert.ok(parseEnvelope(text), what);
  for (const { what, text } of casesOf<{ what: string; text: string }>('refused')) {
    assert.throws(
      () => parseEnvelope(text),
      (error) => error instanceof Refusal && error.code === 'INVALID_ENVELOPE',
      what,
    );
  }
});
