import type { Step } from '../../src/domain/analysis.ts';

/** Which nodes may follow which; the graph's own edges, written down again so that a test can check a run against them. */
const EDGES: Readonly<Record<string, readonly string[]>> = {
  classify: ['reason', 'investigate', 'generate_answer'],
  // Investigators side by side are told one after the other.
  investigate: ['investigate', 'consolidate'],
  consolidate: ['reason', 'investigate', 'generate_answer'],
  reason: ['select_tool', 'generate_answer', 'hand_over'],
  select_tool: ['execute_tool', 'observe', 'reason', 'generate_answer', 'hand_over'],
  execute_tool: ['observe'],
  observe: ['reason', 'await_reviewer', 'generate_answer', 'hand_over'],
  await_reviewer: ['reason'],
  generate_answer: ['verify'],
  verify: ['reason', 'select_tool'],
};

/**
 * Null where the steps are one walk through the graph from classify to its end, with no node told twice; else
 * what is wrong.
 */
export function faultOfWalk(steps: readonly Pick<Step, 'node'>[]): string | null {
  if (steps[0]?.node !== 'classify') return `it begins with ${steps[0]?.node}`;
  const last = steps.at(-1)?.node;
  if (last !== 'verify' && last !== 'hand_over') return `it ends with ${last}`;
  for (const [index, step] of steps.entries()) {
    const next = steps[index + 1];
    if (next !== undefined && !EDGES[step.node]?.includes(next.node))
      return `${next.node} follows ${step.node}`;
  }
  return null;
}
