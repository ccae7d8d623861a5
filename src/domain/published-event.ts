import { z } from 'zod';
import type { Analysis } from './analysis.ts';
import type { Build } from './build.ts';
import type { GradedAnswer } from './outcome.ts';
import type { Decision } from './review.ts';

/** The groups of events that a receiver of answers may ask for in addition. */
export const EventGroup = z.enum(['decisions', 'outcomes']);
export type EventGroup = z.infer<typeof EventGroup>;

/** The event of a decision: a reviewer made it, or someone undid it. */
export interface DecisionEvent {
  readonly type: 'decision.made' | 'decision.undone';
  readonly decision: Decision;
  /** The user who undid it, and when. Null if it stands. */
  readonly undone: { readonly by: string; readonly at: string } | null;
}

/** The event of an outcome: a later build passed, which ended the failure and graded the answer. */
export interface OutcomeEvent {
  readonly type: 'outcome.graded';
  readonly graded: GradedAnswer;
}

/** An event about an answer after it was given. */
export interface PublishedEvent {
  readonly build: Build;
  readonly analysis: Analysis;
  readonly event: DecisionEvent | OutcomeEvent;
}

/** The event that an item of work requests. The facts are read when it is sent. */
export const EventPayload = z.discriminatedUnion('type', [
  z.object({ type: z.literal('decision.made'), decisionId: z.string() }),
  z.object({ type: z.literal('decision.undone'), decisionId: z.string() }),
  z.object({ type: z.literal('outcome.graded'), analysisId: z.string(), greenBuildId: z.string() }),
]);
export type EventPayload = z.infer<typeof EventPayload>;

/** The channels that publish events of a group. */
export type EventSubscriptions = Readonly<Record<EventGroup, readonly string[]>>;

/** Returns the topic of the work that publishes the events of a channel. */
export function toEventTopic(channel: string): string {
  return `publish:${channel}-events`;
}

/** Returns the key of an event, which is the same in every attempt. */
export function toEventKey(channel: string, payload: EventPayload): string {
  if (payload.type === 'decision.made') return `${channel}:${payload.decisionId}`;
  if (payload.type === 'decision.undone') return `${channel}:${payload.decisionId}:undone`;
  return `${channel}:${payload.analysisId}:${payload.greenBuildId}`;
}
