import type { Runtime } from '@langchain/langgraph';
import { z } from 'zod';
import type { Step } from '../../src/domain/analysis.ts';
import { TriageError } from '../../src/domain/errors.ts';
import type { Analyst } from '../../src/ports/analyst.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Toolbox } from '../../src/ports/toolbox.ts';

/** What a run needs from outside. LangGraph hands it on as it is, and it must be given again when a run is resumed. */
export interface TriageContext {
  readonly analyst: Analyst;
  readonly toolbox: Toolbox;
  readonly clock: Clock;
  /** Told of each finished node as it finishes. Must not throw. */
  readonly onStep?: ((step: Step) => void) | undefined;
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null;

/** Checks that the parts are there; their types are the compiler's business. */
export const TriageContextSchema = z.object({
  analyst: z.custom<Analyst>(isObject, 'an analyst is needed'),
  toolbox: z.custom<Toolbox>(isObject, 'a toolbox is needed'),
  clock: z.custom<Clock>(isObject, 'a clock is needed'),
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
