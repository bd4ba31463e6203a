/**
 * The routes of packages. Pure. An envelope is the body itself, and its bytes go to the one reader of envelopes.
 * Source: spec packages, doors (HTTP API).
 */
import * as z from 'zod';
import { LIMITS, PATTERNS } from '../core/index.js';
import { get, post, type Route } from './route.js';

const Package = z.object({
  package_id: z.string(),
  manifest: z.record(z.string(), z.json()),
  manifest_sha256: z.string(),
});
const Outcome = z.record(z.string(), z.json());
const After = z.strictObject({ after: z.string().max(256).optional() });
const Rows = z.object({ rows: z.array(z.record(z.string(), z.json())), next: z.string().optional() });
const Human = z.string().regex(PATTERNS.human);

export const PACKAGE_ROUTES = {
  packages: get('/v1/packages', {
    does: 'packages, a page at a time, each with the beginning of its intent',
    query: z.strictObject({
      states: z.string().max(1_024).optional(),
      limit: z
        .string()
        .regex(/^\d{1,4}$/)
        .optional(),
      after: z.string().max(256).optional(),
    }),
    answer: Rows,
  }),
  createPackage: post('/v1/packages', {
    does: 'begins a package from its intent; the same again is the same package',
    body: z.strictObject({ package_id: z.json(), intent: z.json() }),
    answer: Outcome,
  }),
  applyEnvelope: post('/v1/envelopes', {
    does: 'applies an envelope to the package that it names; the same again is told again',
    body: z.record(z.string(), z.json()),
    isRaw: true,
    answer: Outcome,
  }),
  checkEnvelope: post('/v1/envelopes/check', {
    does: 'whether an envelope would be accepted now; nothing is written',
    body: z.record(z.string(), z.json()),
    isRaw: true,
    answer: Outcome,
  }),
  package: get('/v1/packages/{package_id}', {
    does: 'where a package stands',
    answer: Package,
  }),
  packageSummary: get('/v1/packages/{package_id}/summary', {
    does: 'the exact text that a person confirms',
    answer: Outcome,
  }),
  packageContent: get('/v1/packages/{package_id}/content/{content}', {
    does: 'an input or a draft of a package, by its SHA-256',
    answer: z.object({ content: z.string() }),
  }),
  packageEnvelopes: get('/v1/packages/{package_id}/envelopes', {
    does: 'the envelopes that a package took, the newest first, a page at a time',
    query: After,
    answer: Rows,
  }),
  packageReleases: get('/v1/packages/{package_id}/releases', {
    does: 'the actions that carry its draft, the newest first; a page may hold none and name where to look on',
    query: After,
    answer: Rows,
  }),
  packagePrompt: get('/v1/packages/{package_id}/prompt', {
    does: 'what a model is told: the envelopes that are legal now, in words and as tools',
    answer: z.object({ prompt: z.string(), tools: z.array(z.record(z.string(), z.json())) }),
  }),
  verifyPackage: get('/v1/packages/{package_id}/verify', {
    does: 'replays a package from its first event',
    answer: Outcome,
  }),
  confirmPackage: post('/v1/packages/{package_id}/confirmation', {
    does: 'asks a person to confirm the summary that stands',
    body: z.strictObject({ person: Human.optional() }),
    answer: z.object({
      request: z.record(z.string(), z.json()),
      summary: z.array(z.string()),
      also: z.array(z.record(z.string(), z.json())),
    }),
  }),
  releasePackage: post('/v1/packages/{package_id}/release', {
    does: 'proposes the action that writes the draft to its path',
    body: z.strictObject({
      project: z.string().regex(PATTERNS.project),
      target: z.string().min(1).max(LIMITS.targetCharsMax),
      message: z.string().max(LIMITS.wordsCharsMax).optional(),
      connector: z.string().regex(PATTERNS.project).optional(),
    }),
    answer: z.object({ action_id: z.string(), joined: z.boolean() }),
  }),
} as const satisfies Readonly<Record<string, Route>>;
