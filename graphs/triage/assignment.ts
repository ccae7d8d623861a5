import { StateSchema } from '@langchain/langgraph';
import { z } from 'zod';
import { Classification } from '../../src/domain/analysis.ts';
import { Evidence, ToolOutcome } from '../../src/domain/evidence.ts';
import { TriageSubject } from '../../src/domain/triage.ts';
import { spentOf } from './budget.ts';
import { insightOf } from './insight.ts';
import { Investigator, TriageLimits, type TriageStateValue } from './state.ts';

/** What one investigator is sent for one round: what is known, and what may still be spent. It does not see the others at work. */
export const Assignment = z.object({
  investigator: Investigator,
  /** 1-based. */
  round: z.int(),
  limits: TriageLimits,
  spent: z.object({ tokens: z.number(), costUsd: z.number(), milliseconds: z.number() }),
  subject: TriageSubject,
  classification: Classification,
  evidence: z.array(Evidence),
  outcomes: z.array(ToolOutcome),
});
export type Assignment = z.infer<typeof Assignment>;

/** The input of the node that is sent to. */
export const AssignmentState = new StateSchema({ assignment: Assignment });

export function assignmentOf(investigator: Investigator, state: TriageStateValue): Assignment {
  const { subject, classification, evidence, outcomes } = insightOf(state);
  return {
    investigator,
    round: state.investigations + 1,
    limits: state.limits,
    spent: spentOf(state),
    subject,
    classification,
    evidence: [...evidence],
    outcomes: [...outcomes],
  };
}
