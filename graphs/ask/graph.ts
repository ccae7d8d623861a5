import { END, START, StateGraph } from '@langchain/langgraph';
import { AskContextSchema } from './context.ts';
import { checkCitations } from './nodes/check-citations.ts';
import { chooseTools } from './nodes/choose-tools.ts';
import { composeAnswer } from './nodes/compose-answer.ts';
import { executeTools } from './nodes/execute-tools.ts';
import { understand } from './nodes/understand.ts';
import { routeAfterChooseTools, routeAfterExecuteTools, routeAfterUnderstand } from './routes.ts';
import { AskState } from './state.ts';

/**
 * Compiles the process of one follow-up question. It has no checkpoints: a person waits for the answer and
 * asks again if the run is interrupted. What must be kept is stored in the thread.
 */
export function compileAskGraph() {
  return new StateGraph(AskState, AskContextSchema)
    .addNode('understand', understand)
    .addNode('choose_tools', chooseTools)
    .addNode('execute_tools', executeTools)
    .addNode('compose_answer', composeAnswer)
    .addNode('check_citations', checkCitations)
    .addEdge(START, 'understand')
    .addConditionalEdges('understand', routeAfterUnderstand, ['choose_tools', 'compose_answer'])
    .addConditionalEdges('choose_tools', routeAfterChooseTools, ['execute_tools', 'compose_answer'])
    .addConditionalEdges('execute_tools', routeAfterExecuteTools, ['choose_tools', 'compose_answer'])
    .addEdge('compose_answer', 'check_citations')
    .addEdge('check_citations', END)
    .compile({ name: 'ask' });
}

export type AskGraph = ReturnType<typeof compileAskGraph>;
