import type { Runtime } from '@langchain/langgraph';
import { z } from 'zod';
import type { Step } from '../../src/domain/analysis.ts';
import { TriageError } from '../../src/domain/errors.ts';
import type { Clock } from '../../src/lib/time.ts';
import type { Converse, TextPiece } from '../../src/ports/analyst.ts';
import type { Toolbox } from '../../src/ports/toolbox.ts';

/** What a question needs from outside. */
export interface AskContext {
  readonly converse: Converse;
  readonly toolbox: Toolbox;
  readonly clock: Clock;
  /** Told of each finished node as it finishes. Must not throw. */
  readonly onStep?: ((step: Step) => void) | undefined;
  /** Told of the answer as it comes, before it is checked. Must not throw. */
  readonly onText?: ((piece: TextPiece) => void) | undefined;
}

/** Checks that the parts are there and alive. */
export const AskContextSchema = z.object({
  converse: z.custom<Converse>((value) => canDo(value, 'understand')),
  toolbox: z.custom<Toolbox>((value) => canDo(value, 'run')),
  clock: z.custom<Clock>((value) => canDo(value, 'now')),
  onStep: z.custom<(step: Step) => void>((value) => typeof value === 'function').optional(),
  onText: z.custom<(piece: TextPiece) => void>((value) => typeof value === 'function').optional(),
});

export type AskRuntime = Runtime<z.infer<typeof AskContextSchema>>;

/** The context of a run; a run started without one is a mistake of the caller. */
export function contextOf(runtime: AskRuntime): AskContext {
  const context = runtime.context;
  if (context === undefined || context.converse === undefined) {
    throw new TriageError('internal', 'The ask graph was run without its context; pass { context: { converse, toolbox, clock } }');
  }
  return context;
}

function canDo(value: unknown, method: string): boolean {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, method) === 'function';
}
