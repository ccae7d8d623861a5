import { z } from 'zod';
import { TriageError } from '../../src/domain/errors.ts';
import type { Finding } from '../../src/domain/evidence.ts';
import { defineTool, type Tool, type ToolContext, type ToolDefinition } from '../../src/tools/tool.ts';
import { createToolbox, type ToolboxOptions } from '../../src/tools/toolbox.ts';
import { sampleSubject } from '../support/subject.ts';

const subject = sampleSubject();
const signal = new AbortController().signal;
export const finding: Finding = { title: 'found', text: 'text', source: 'somewhere' };
/** An error that says trying again may help. */
export const flaky = (retryAfterMs?: number) =>
  new TriageError('upstream-failed', 'It answered 503.', {
    retryable: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });

export const Parameters = z.strictObject({
  path: z.string().min(1).optional(),
  depth: z.int().max(5).optional(),
});

/** A tool that answers as it is told; `asked` counts its calls from 1. */
export function createTool(
  name: string,
  run: (context: ToolContext, asked: number) => Promise<Finding[]>,
  rest: Partial<ToolDefinition<typeof Parameters>> = {},
): Tool {
  let asked = 0;
  return defineTool({
    name,
    question: `What does ${name} say?`,
    serves: { CODE_ERROR: 1 },
    asks: 'code host',
    costClass: 'low',
    usualLatencyMs: 100,
    provider: `provider:${name}`,
    parameters: Parameters,
    ...rest,
    run: (_args, context) => {
      asked += 1;
      return run(context, asked);
    },
  });
}

/** Puts questions of a CODE_ERROR to these tools. */
export function createTestToolbox(tools: Tool[], options: Partial<ToolboxOptions> = {}) {
  const box = createToolbox(tools, { mask: (text) => text, resilience: { firstDelayMs: 2 }, ...options });
  return (name: string, args: Record<string, unknown> = {}, over: AbortSignal = signal, why = 'test') =>
    box.run({ tool: name, args, why }, subject, 'CODE_ERROR', over);
}
