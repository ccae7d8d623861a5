import { END, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';
import { TriageError } from '../../src/domain/errors.ts';
import { TriageSubject } from '../../src/domain/triage.ts';
import { TriageContextSchema } from '../triage/context.ts';
import type { TriageGraph } from '../triage/graph.ts';
import { classify } from '../triage/nodes/classify.ts';
import { TriageLimits } from '../triage/state.ts';
import { generateAnswer } from './nodes/generate-answer.ts';
import { nameFiles } from './nodes/name-files.ts';
import { searchSimilar } from './nodes/search-similar.ts';
import { LinearState } from './state.ts';

/**
 * The linear baseline: the design that the agent's loop replaces, kept so that what the loop gains is measured and not claimed. Classify,
 * look once for similar failures, name the files that the log names, answer. Nothing is asked twice, nothing is verified: what is published
 * goes by how sure the classification is. Judges with the same analyst and the same toolbox as the loop, on the same reading, so that only
 * the design differs. For replay alone: the service never runs it.
 */
export function compileLinearGraph() {
  return new StateGraph(LinearState, TriageContextSchema)
    .addNode('classify', classify)
    .addNode('search_similar', searchSimilar)
    .addNode('name_files', nameFiles)
    .addNode('generate_answer', generateAnswer)
    .addEdge(START, 'classify')
    .addEdge('classify', 'search_similar')
    .addEdge('search_similar', 'name_files')
    .addEdge('name_files', 'generate_answer')
    .addEdge('generate_answer', END)
    .compile({ name: 'linear' });
}

const Begun = z.object({ subject: TriageSubject, limits: TriageLimits });

/** The same as whoever runs the triage graph calls it. A run is never continued and never waits for a person. */
export function linearInPlaceOfLoop(): Pick<TriageGraph, 'invoke' | 'getState'> {
  const graph = compileLinearGraph();
  const invoke: TriageGraph['invoke'] = async (input, options) => {
    const begun = Begun.safeParse(input);
    if (!begun.success) throw new TriageError('internal', 'A run of the linear baseline cannot be resumed', { cause: begun.error });
    const { context, configurable, signal } = options ?? {};
    return await graph.invoke(begun.data, {
      ...(context === undefined ? {} : { context }),
      ...(configurable === undefined ? {} : { configurable }),
      ...(signal === undefined ? {} : { signal }),
    });
  };
  return { invoke, getState: (config) => graph.getState(config) };
}
