import type { Step } from '../../src/domain/analysis.ts';

/** Which nodes may follow which; the graph's own edges, written down again so that a test can check a run against them. */
const EDGES: Readonly<Record<string, readonly string[]>> = {
  classify: ['reason', 'investigate', 'generate_answer'],
  // Investigators side by side are told one after the other.
  investigate: ['investigate', 'consolidate'],
  consolidate: ['reason', 'investigate', 'generate_answer'],
  reason: ['select_tool', 'generate_answer'],
  select_tool: ['execute_tool', 'observe', 'reason', 'generate_answer'],
  execute_tool: ['observe'],
  observe: ['reason', 'await_reviewer', 'generate_answer'],
  await_reviewer: ['reason'],
  generate_answer: ['verify'],
  verify: ['reason', 'select_tool'],
};

/** Null where the steps are one walk through the graph from classify to verify, with no node told twice; else what is wrong. */
export function faultOfWalk(steps: readonly Pick<Step, 'node'>[]): string | null {
  if (steps[0]?.node !== 'classify') return `it begins with ${steps[0]?.node}`;
  if (steps.at(-1)?.node !== 'verify') return `it ends with ${steps.at(-1)?.node}`;
  for (const [index, step] of steps.entries()) {
    const next = steps[index + 1];
    if (next !== undefined && !EDGES[step.node]?.includes(next.node)) return `${next.node} follows ${step.node}`;
  }
  return null;
}
