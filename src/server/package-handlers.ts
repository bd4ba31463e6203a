/**
 * What the routes of packages do: they hand over to the packages of whoever asks. No rule stands here.
 * Source: spec packages, doors (HTTP API).
 */
import type { PACKAGE_ROUTES } from '../api/index.js';
import { Refusal } from '../core/index.js';
import type { Asked, Handler } from './handlers.js';

const idOf = ({ params }: Asked): string => params['package_id'] ?? '';

export const PACKAGE_HANDLERS: Readonly<Record<keyof typeof PACKAGE_ROUTES, Handler>> = {
  packages: ({ gate, query: { states, limit, after } }) =>
    gate.packages.list({
      ...(states === undefined ? {} : { states: states.split(',') }),
      ...(limit === undefined ? {} : { limit: Number(limit) }),
      ...(after === undefined ? {} : { after }),
    }),
  createPackage: ({ gate, body }) => gate.packages.create(body.package_id, body.intent),
  applyEnvelope: ({ gate, body }) => gate.packages.apply(body),
  checkEnvelope: ({ gate, body }) => gate.packages.check(body),
  package: async (asked) => {
    const { manifest, manifest_sha256 } = await asked.gate.packages.status(idOf(asked));
    return { package_id: manifest.package_id, manifest, manifest_sha256 };
  },
  packageSummary: async (asked) => {
    const { summary } = (await asked.gate.packages.status(idOf(asked))).manifest;
    if (summary !== null) return summary;
    throw new Refusal('GATE_UNSATISFIED', 'the package has no summary: prepare_summary');
  },
  packageContent: async (asked) => {
    const bytes = await asked.gate.packages.content(idOf(asked), asked.params['content'] ?? '');
    return { content: Buffer.from(bytes).toString('utf8') };
  },
  packageEnvelopes: (asked) => asked.gate.packages.envelopes(idOf(asked), asked.query['after']),
  packageReleases: (asked) => asked.gate.packages.releases(idOf(asked), asked.query['after']),
  packagePrompt: async (asked) => ({
    prompt: await asked.gate.packages.prompt(idOf(asked)),
    tools: await asked.gate.packages.tools(idOf(asked)),
  }),
  verifyPackage: (asked) => asked.gate.packages.verify(idOf(asked)),
  confirmPackage: (asked) => asked.gate.packages.requestConfirmation(idOf(asked), asked.body.person),
  releasePackage: (asked) => asked.gate.packages.release(idOf(asked), asked.body),
};
