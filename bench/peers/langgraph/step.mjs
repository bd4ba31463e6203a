/** LangGraph: one step of a graph that adds an input to its state, durable on the SQLite checkpointer in a file. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { drive } from '../drive.mjs';

const State = Annotation.Root({
  input: Annotation(),
  inputs: Annotation({ reducer: (all, more) => [...all, ...more], default: () => [] }),
});
const graph = new StateGraph(State)
  .addNode('record', ({ input }) => ({ inputs: [input] }))
  .addEdge(START, 'record')
  .addEdge('record', END)
  .compile({ checkpointer: SqliteSaver.fromConnString(join(mkdtempSync(join(tmpdir(), 'peer-')), 'peer.sqlite')) });

const content = 'Some words of a source.\n'.repeat(40);

await drive('LangGraph 1.7.3, SQLite checkpointer', async (number) => {
  const config = { configurable: { thread_id: `thread-${Math.floor(number / 10)}-${number % 10}` } };
  const { inputs } = await graph.invoke({ input: { input_id: `i${number}`, content } }, config);
  if (inputs.length !== 1) throw new Error('the peer did not record it');
});
