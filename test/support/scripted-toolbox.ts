import type { Category } from '../../src/domain/category.ts';
import type { Finding, ToolCall, ToolOutcome } from '../../src/domain/evidence.ts';
import type { Toolbox, ToolDescription } from '../../src/ports/toolbox.ts';

export type Reply = Partial<ToolOutcome> & { readonly findings?: Finding[] };

/** A toolbox whose tools reply what the test wrote down, and that remembers what it was asked. */
export function scriptedToolbox(
  replies: Readonly<Record<string, Reply | ((call: ToolCall) => Reply)>>,
): Toolbox & { readonly calls: ToolCall[] } {
  const calls: ToolCall[] = [];
  const describe = (name: string): ToolDescription => ({
    name,
    question: `what does ${name} say?`,
    categories: [
      'CODE_ERROR',
      'TEST_FAILURE',
      'INFRA_ERROR',
      'CONFIG_ERROR',
      'DEPENDENCY_ERROR',
    ] satisfies Category[],
    always: false,
    costClass: 'low',
    usualLatencyMs: 1,
    fallback: name === 'search_web',
    parameters: {},
  });
  return {
    calls,
    offered: () => Object.keys(replies).map(describe),
    describe: (name) => (name in replies ? describe(name) : null),
    run: async (call) => {
      calls.push(call);
      const reply = replies[call.tool];
      const spoken = typeof reply === 'function' ? reply(call) : (reply ?? {});
      return { call, status: 'ok', findings: [], summary: 'said', milliseconds: 1, attempts: 1, ...spoken };
    },
  };
}
