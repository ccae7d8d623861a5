import { type BaseCheckpointSaver, END, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { TriageContextSchema } from './context.ts';
import { awaitReviewer } from './nodes/await-reviewer.ts';
import { classify } from './nodes/classify.ts';
import { consolidate } from './nodes/consolidate.ts';
import { executeTool } from './nodes/execute-tool.ts';
import { generateAnswer } from './nodes/generate-answer.ts';
import { handOver } from './nodes/hand-over.ts';
import { investigate } from './nodes/investigate.ts';
import { observe } from './nodes/observe.ts';
import { reason } from './nodes/reason.ts';
import { selectTool } from './nodes/select-tool.ts';
import { verify } from './nodes/verify.ts';
import {
  routeAfterClassify,
  routeAfterConsolidate,
  routeAfterObserve,
  routeAfterReason,
  routeAfterSelectTool,
  routeAfterVerify,
} from './routes.ts';
import { AssignmentState, TriageState } from './state.ts';

/** The nodes in which the loop ends. */
const ENDS = ['generate_answer', 'hand_over'] as const;

/**
 * Compiles the whole process of one triage with all nodes and edges. Nodes return facts; every route is a
 * pure function in routes.ts.
 */
export function compileTriageGraph(checkpointer?: BaseCheckpointSaver) {
  return new StateGraph(TriageState, TriageContextSchema)
    .addNode('classify', classify)
    .addNode('investigate', investigate, { input: AssignmentState })
    .addNode('consolidate', consolidate)
    .addNode('reason', reason)
    .addNode('select_tool', selectTool)
    .addNode('execute_tool', executeTool)
    .addNode('observe', observe)
    .addNode('await_reviewer', awaitReviewer)
    .addNode('generate_answer', generateAnswer)
    .addNode('verify', verify)
    .addNode('hand_over', handOver)
    .addEdge(START, 'classify')
    .addConditionalEdges('classify', routeAfterClassify, ['reason', 'investigate', 'generate_answer'])
    .addEdge('investigate', 'consolidate')
    .addConditionalEdges('consolidate', routeAfterConsolidate, ['reason', 'investigate', 'generate_answer'])
    .addConditionalEdges('reason', routeAfterReason, ['select_tool', ...ENDS])
    .addConditionalEdges('select_tool', routeAfterSelectTool, ['execute_tool', 'observe', 'reason', ...ENDS])
    .addEdge('execute_tool', 'observe')
    .addConditionalEdges('observe', routeAfterObserve, ['reason', 'await_reviewer', ...ENDS])
    .addEdge('await_reviewer', 'reason')
    .addEdge('generate_answer', 'verify')
    .addConditionalEdges('verify', routeAfterVerify, {
      reason: 'reason',
      select_tool: 'select_tool',
      end: END,
    })
    .addEdge('hand_over', END)
    .compile({ name: 'triage', ...(checkpointer === undefined ? {} : { checkpointer }) });
}

export type TriageGraph = ReturnType<typeof compileTriageGraph>;

/** The graph without a checkpointer, for LangGraph's own tools, which bring their own, and for drawing. */
export const graph = compileTriageGraph();

/**
 * Compiles the graph with an in-memory checkpointer, for runs that wait for a person without a database. The
 * checkpoints are lost when the process ends.
 */
export function compileTriageGraphInMemory(): TriageGraph {
  return compileTriageGraph(new MemorySaver());
}
