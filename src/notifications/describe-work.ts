import type { Step } from '../domain/analysis.ts';
import type { Evidence } from '../domain/evidence.ts';
import { formatCount } from '../lib/text.ts';

interface Work {
  /** Absent if a service did not return the steps. */
  readonly steps?: readonly Pick<Step, 'outcomes'>[];
  readonly evidence: readonly Evidence[];
  readonly usage: { readonly toolCalls: number };
}

/** Describes how an answer was made: "8 steps", "3 tool calls", "2 documents read", "1 cache hit". */
export function describeWork({ steps, evidence, usage }: Work): string[] {
  const calls = formatCount(usage.toolCalls, 'tool call');
  if (steps === undefined) return [calls];
  // The excerpts of the log are not looked up.
  const read = evidence.filter(({ tool, lineStart }) => lineStart !== undefined && tool !== 'log');
  const documents = new Set(read.map(({ source }) => source)).size;
  const hits = steps.flatMap(({ outcomes = [] }) => outcomes).filter(({ cached }) => cached === true).length;
  return [
    formatCount(steps.length, 'step'),
    calls,
    ...(documents === 0 ? [] : [`${formatCount(documents, 'document')} read`]),
    ...(hits === 0 ? [] : [formatCount(hits, 'cache hit')]),
  ];
}
