import type { Runtime } from '@langchain/langgraph';
import { z } from 'zod';
import type { Step } from '../../src/domain/analysis.ts';
import { TriageError } from '../../src/domain/errors.ts';
import type { Clock } from '../../src/lib/time.ts';
import type { Analyst } from '../../src/ports/analyst.ts';
import type { Toolbox } from '../../src/ports/toolbox.ts';

/** What a run needs from outside. LangGraph hands it on as it is, and it must be given again when a run is resumed. */
export interface TriageContext {
  readonly analyst: Analyst;
  /** Who judges for nothing once the budget is used up, and whose reading a model's answer is weighed against; absent: the analyst itself. */
  readonly fallbackAnalyst?: Analyst | undefined;
  readonly toolbox: Toolbox;
  readonly clock: Clock;
  /** Told of each finished node as it finishes. Must not throw. */
  readonly onStep?: ((step: Step) => void) | undefined;
}

/** Checks that the parts are there and alive: LangGraph's own tools can send JSON only, which judges nothing. */
export const TriageContextSchema = z.object({
  analyst: z.custom<Analyst>((value) => canDo(value, 'classify'), needs('analyst')),
  fallbackAnalyst: z.custom<Analyst>((value) => canDo(value, 'classify')).optional(),
  toolbox: z.custom<Toolbox>((value) => canDo(value, 'run'), needs('toolbox')),
  clock: z.custom<Clock>((value) => canDo(value, 'now'), needs('clock')),
  onStep: z.custom<(step: Step) => void>((value) => typeof value === 'function').optional(),
});

export type TriageRuntime = Runtime<z.infer<typeof TriageContextSchema>>;

/** The context of a run; a run started without one is a mistake of the caller. */
export function contextOf(runtime: TriageRuntime): TriageContext {
  const context = runtime.context;
  if (context === undefined || context.analyst === undefined) {
    throw new TriageError('internal', 'The triage graph was run without its context; pass { context: { analyst, toolbox, clock } }');
  }
  return context;
}

function canDo(value: unknown, method: string): boolean {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, method) === 'function';
}

function needs(part: string): string {
  return `A run needs its ${part}. Faultline passes it. LangGraph's own tools can display the graph but not run it.`;
}
