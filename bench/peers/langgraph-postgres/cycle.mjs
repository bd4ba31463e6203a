/** LangGraph: a node that interrupts for an approval, resumed with it, on the PostgreSQL checkpointer. */
import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { drive } from '../drive.mjs';

const checkpointer = PostgresSaver.fromConnString(process.env.PEER_DATABASE);
await checkpointer.setup();
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
  .compile({ checkpointer });

await drive('LangGraph 1.7.3, PostgreSQL checkpointer', async (number) => {
  const config = { configurable: { thread_id: `thread-${number}` } };
  const before = effects;
  await graph.invoke({ call: { operation: 'send', to: 'somebody', number } }, config);
  const { result } = await graph.invoke(new Command({ resume: true }), config);
  if (result !== 'done' || effects === before) throw new Error('the peer did not run');
});
await checkpointer.end();
