import { MemorySaver } from '@langchain/langgraph';
import { compileTriageGraph, type TriageGraph } from './graph.ts';

/** The graph with a memory of its own, which ends with it: for runs that wait for a person without a database. */
export function compileTriageGraphInMemory(): TriageGraph {
  return compileTriageGraph(new MemorySaver());
}
