/** Mastra: a workflow step that suspends for an approval and is resumed with it, on libSQL in a file. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Mastra } from '@mastra/core';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { LibSQLStore } from '@mastra/libsql';
import { z } from 'zod';
import { drive } from '../drive.mjs';

let effects = 0;
const gate = createStep({
  id: 'gate',
  inputSchema: z.object({ operation: z.string(), to: z.string(), number: z.number() }),
  outputSchema: z.object({ done: z.boolean() }),
  resumeSchema: z.object({ approved: z.boolean() }),
  execute: async ({ resumeData, suspend }) => {
    if (resumeData === undefined) return suspend({});
    effects += 1;
    return { done: resumeData.approved };
  },
});
const workflow = createWorkflow({
  id: 'approve-then-execute',
  inputSchema: gate.inputSchema,
  outputSchema: gate.outputSchema,
})
  .then(gate)
  .commit();
const url = `file:${join(mkdtempSync(join(tmpdir(), 'peer-')), 'peer.db')}`;
const mastra = new Mastra({ workflows: { workflow }, storage: new LibSQLStore({ url }), logger: false });

await drive('mastra 0.24.9, libSQL', async (number) => {
  const run = await mastra.getWorkflow('workflow').createRunAsync();
  const suspended = await run.start({ inputData: { operation: 'send', to: 'somebody', number } });
  if (suspended.status !== 'suspended') throw new Error('the peer did not suspend');
  const before = effects;
  const { status } = await run.resume({ step: 'gate', resumeData: { approved: true } });
  if (status !== 'success' || effects === before) throw new Error('the peer did not run');
});
