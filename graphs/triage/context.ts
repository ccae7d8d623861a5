import type { Runtime } from '@langchain/langgraph';
import { z } from 'zod';
import type { Step } from '../../src/domain/analysis.ts';
import { TriageError } from '../../src/domain/errors.ts';
import type { Clock } from '../../src/lib/time.ts';
import type { Analyst } from '../../src/ports/analyst.ts';
import type { Toolbox } from '../../src/ports/toolbox.ts';

/**
 * Creates the schema of a part of the context that must be a live object with this method. LangGraph's own
 * tools can only send JSON, which has no methods.
 */
export function createContextPart<Part>(name: string, method: string) {
  const canDo = (value: unknown) =>
    typeof value === 'object' && value !== null && typeof Reflect.get(value, method) === 'function';
  return z.custom<Part>(
    canDo,
    `A run needs its ${name}. Faultline passes it. LangGraph's own tools can display the graph but ` +
      'not run it.',
  );
}

/**
 * External dependencies of every graph. LangGraph passes the context on unchanged; it must be passed again
 * when a run is resumed.
 */
export const GraphContextSchema = z.object({
  toolbox: createContextPart<Toolbox>('toolbox', 'run'),
  clock: createContextPart<Clock>('clock', 'now'),
  /** Called with each finished node as it finishes. Must not throw. */
  onStep: z.custom<(step: Step) => void>((value) => typeof value === 'function').optional(),
});

export const TriageContextSchema = GraphContextSchema.extend({
  analyst: createContextPart<Analyst>('analyst', 'classify'),
  /**
   * The analyst that judges at no cost once the budget is used up, and whose reading a model's answer is
   * weighed against. If absent, the analyst itself is used.
   */
  fallbackAnalyst: createContextPart<Analyst>('fallback analyst', 'classify').optional(),
});
export type TriageContext = z.infer<typeof TriageContextSchema>;
export type TriageRuntime = Runtime<TriageContext>;

/** Returns the context of a run. Throws `internal` if the caller started the run without one. */
export function getContext<Context extends z.infer<typeof GraphContextSchema>>(
  runtime: Runtime<Context>,
): Context {
  const { context } = runtime;
  if (context?.toolbox === undefined)
    throw new TriageError('internal', 'The graph was run without its context; pass { context: … }');
  return context;
}
