import { compileTriageGraph } from '../../graphs/triage/graph.ts';
import type { Step } from '../../src/domain/analysis.ts';

const { edges } = await compileTriageGraph().getGraphAsync();
const EDGES = new Set(edges.map(({ source, target }) => `${source} ${target}`));
// The steps of parallel investigators are reported one after the other.
EDGES.add('investigate investigate');

/**
 * Returns null if the steps are one path through the compiled graph from its start to its end, in which no
 * node is reported twice. Otherwise returns what is wrong.
 */
export function findWalkError(steps: readonly Pick<Step, 'node'>[]): string | null {
  const nodes = ['__start__', ...steps.map(({ node }) => node), '__end__'];
  for (const [index, node] of nodes.entries()) {
    const next = nodes[index + 1];
    if (next !== undefined && !EDGES.has(`${node} ${next}`)) return `${next} follows ${node}`;
  }
  return null;
}
