import { CATEGORIES } from '../../src/domain/category.ts';
import type { Finding, ToolCall, ToolOutcome } from '../../src/domain/evidence.ts';
import type { Toolbox, ToolDescription } from '../../src/ports/toolbox.ts';
import { describeTools } from '../../src/tools/all-tools.ts';

export type Reply = Partial<ToolOutcome> & { readonly findings?: Finding[] };

/** The descriptions of the real tools. Scripted tools of the same name use them. */
const ROWS = new Map(describeTools().map((tool) => [tool.name, tool]));

/** Creates a toolbox whose tools return scripted replies and that records its calls. */
export function createScriptedToolbox(
  replies: Readonly<Record<string, Reply | ((call: ToolCall) => Reply)>>,
): Toolbox & { readonly calls: ToolCall[] } {
  const calls: ToolCall[] = [];
  const describe = (name: string): ToolDescription => ({
    ...ROWS.get(name),
    name,
    question: `what does ${name} say?`,
    categories: CATEGORIES,
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
