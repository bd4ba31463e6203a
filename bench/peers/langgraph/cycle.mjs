/** LangGraph: a node that interrupts for an approval, resumed with it, on the SQLite checkpointer in a file. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { drive } from '../drive.mjs';

const State = Annotation.Root({ call: Annotation(), result: Annotation() });
let effects = 0;
const graph = new StateGraph(State)
  .addNode('gate', (state) => {
    const approved = interrupt({ call: state.call });
    if (approved !== true) return { result: 'denied' };
    effects += 1;
    return { result: 'done' };
  })
  .addEdge(START, 'gate')
  .addEdge('gate', END)
  .compile({ checkpointer: SqliteSaver.fromConnString(join(mkdtempSync(join(tmpdir(), 'peer-')), 'peer.sqlite')) });

await drive('LangGraph 1.7.3, SQLite checkpointer', async (number) => {
  const config = { configurable: { thread_id: `thread-${number}` } };
  const before = effects;
  await graph.invoke({ call: { operation: 'send', to: 'somebody', number } }, config);
  const { result } = await graph.invoke(new Command({ resume: true }), config);
  if (result !== 'done' || effects === before) throw new Error('the peer did not run');
});
