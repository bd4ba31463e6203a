/** Packages at a gate, brought on by one envelope after the other. */
import type { Gate } from '../../src/app/index.js';
import type { ActionName } from '../../src/packages/schema.js';
import { signed } from './gate-world.js';
import { envelope, PATHS, PAYLOADS } from './package-world.js';

/** Applies an action to a package as it stands. */
export async function step({ packages }: Pick<Gate, 'packages'>, id: string, action: ActionName, changes: object = {}) {
  const { manifest } = await packages.status(id);
  const payload = { ...PAYLOADS[action], ...changes };
  return packages.apply(JSON.stringify(envelope(action, manifest.revision, { package_id: id, payload })));
}

/** A package that stands in a state; its summary is confirmed by the software key of the first person. */
export async function packageIn(gate: Gate, id: string, state: keyof typeof PATHS): Promise<void> {
  await gate.packages.create(id, `the intent of ${id}`);
  for (const action of PATHS[state]) {
    if (action !== 'confirm_summary') await step(gate, id, action);
    else await gate.submit(signed((await gate.packages.requestConfirmation(id)).request));
  }
}
