import { NO_USAGE } from '../../../src/domain/analysis.ts';
import type { Evidence, Finding, ToolOutcome } from '../../../src/domain/evidence.ts';
import { maxOf } from '../../../src/lib/collections.ts';
import { type AskRuntime, contextOf } from '../context.ts';
import { finishedStep } from '../judge.ts';
import type { AskStateUpdate, AskStateValue } from '../state.ts';

/** Makes the chosen calls side by side and numbers what is new. A tool's failure is an observation like any other. */
export async function executeTools(state: AskStateValue, runtime: AskRuntime): Promise<AskStateUpdate> {
  const { toolbox, clock } = contextOf(runtime);
  const { analysis, subject } = state.topic;
  const startedAt = clock.now();
  const replies = await Promise.all(state.calls.map((call) => toolbox.run(call, subject, analysis.category, runtime.signal)));
  const found = numbered(replies, [...state.known, ...state.found]);
  const outcomes = replies.map((reply) => ({ ...reply, findings: [] }));
  return {
    found,
    gained: found.length,
    outcomes,
    calls: [],
    usage: { ...NO_USAGE, toolCalls: replies.length },
    ...finishedStep(runtime, startedAt, {
      node: 'execute_tools',
      round: state.rounds,
      summary: replies.map((reply) => `${reply.call.tool}: ${reply.summary}`).join(' · '),
      outcomes: outcomes.map(({ findings: _findings, ...outcome }) => outcome),
    }),
  };
}

/** Numbers go on from the highest one known, so that a citation of an earlier turn keeps its meaning. */
function numbered(replies: readonly ToolOutcome[], known: readonly Evidence[]): Evidence[] {
  const seen = new Set(known.map(identityOf));
  let last = maxOf(
    known.map(({ id }) => Number(id.slice(1))),
    0,
  );
  return replies.flatMap((reply) =>
    reply.findings.flatMap((finding) => {
      const identity = identityOf(finding);
      if (seen.has(identity)) return [];
      seen.add(identity);
      last += 1;
      return [{ ...finding, id: `E${last}`, tool: reply.answeredBy ?? reply.call.tool }];
    }),
  );
}

/** The same lines of the same source are the same evidence, whoever brought them. */
function identityOf(finding: Finding): string {
  return JSON.stringify([finding.source, finding.lineStart ?? null, finding.lineEnd ?? null, finding.text]);
}
