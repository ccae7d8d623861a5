import { StateSchema } from '@langchain/langgraph';
import { z } from 'zod';
import { Analysis } from '../../src/domain/analysis.ts';
import { Build } from '../../src/domain/build.ts';
import {
  LeftOut,
  Memory,
  Place,
  Statement,
  TopicFact,
  Understanding,
} from '../../src/domain/conversation.ts';
import { Evidence, ToolCall, ToolOutcome } from '../../src/domain/evidence.ts';
import { TriageSubject } from '../../src/domain/triage.ts';
import { accountFields, appended } from '../triage/state.ts';

/** The analysis that the conversation is about. */
const TopicState = z.object({
  build: Build,
  analysis: Analysis,
  subject: TriageSubject,
  facts: z.array(TopicFact).readonly(),
  otherCauses: z.array(z.object({ analysisId: z.string(), category: z.string(), title: z.string() })),
});

/** A repository or a folder of documents that is asked about without a failure. */
const PlaceState = z.object({ place: Place, subject: TriageSubject });

/** The state of one question. Keys are nouns (nodes are verbs). */
export const AskState = new StateSchema({
  topic: z.union([TopicState, PlaceState]),
  question: z.string(),
  memory: Memory,
  /** Evidence from the analysis and from earlier turns, numbered. */
  known: z.array(Evidence),
  /** The maximum number of rounds of tool calls. */
  maxRounds: z.int().min(0),
  understanding: Understanding.nullable().default(null),
  /** The evidence found for this question. Its numbers continue those of `known`. The list only grows. */
  found: appended(Evidence),
  /** The number of rounds begun. Tools are chosen in each round. */
  rounds: z.int().default(0),
  /** Calls chosen for this round. */
  calls: z.array(ToolCall).default(() => []),
  /** All calls made. Their findings are in `found`. */
  outcomes: appended(ToolOutcome),
  /** The number of new evidence items in the last round. */
  gained: z.int().default(0),
  reply: z.array(Statement).default(() => []),
  leftOut: z.array(LeftOut).default(() => []),
  /** The name of the analyst that answered. */
  analyst: z.string().default(''),
  ...accountFields,
});

export type AskStateValue = typeof AskState.State;
export type AskStateUpdate = typeof AskState.Update;
