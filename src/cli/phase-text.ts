import type { Step } from '../domain/analysis.ts';
import { clip, visibleLine } from '../publish/visible-text.ts';

const MAX_CHARACTERS = 100;

/** A finished node in a few calm words for standard error: "classify TEST_FAILURE 0.99 assertion". The trace keeps the reasons. */
export function phaseText(step: Step): string {
  const facts = visibleLine(factsOf(step));
  return facts === '' ? step.node : `${step.node} ${clip(facts, MAX_CHARACTERS)}`;
}

function factsOf({ node, summary, outcomes = [] }: Step): string {
  if (node === 'execute_tool' && outcomes.length > 0) return outcomes.map(({ call, summary: said }) => `${call.tool} ${said}`).join(' · ');
  // The answer itself follows on standard output.
  if (node === 'generate_answer') return '';
  return (summary.split(': ', 1)[0] ?? '').replace(/[()]/g, '');
}
