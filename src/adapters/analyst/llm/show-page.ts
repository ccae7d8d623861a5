import type { LogPosition } from '../../../domain/failure.ts';
import type { TriageSubject } from '../../../domain/triage.ts';
import { roleOf } from '../../../log/roles.ts';
import type { Insight } from '../../../ports/analyst.ts';
import { type Focus, showEvidence } from './show-evidence.ts';
import { showFacts } from './show-facts.ts';

/**
 * What a judgement sees of a failure: the failing step and what the reader made of it, then the evidence, laid out within `room` characters. What the last
 * round of questions brought is shown whole.
 */
export function showPage(
  { subject, evidence, outcomes = [] }: Pick<Insight, 'subject' | 'evidence'> & Partial<Pick<Insight, 'outcomes'>>,
  room: number,
  focus: Pick<Focus, 'cited' | 'quoted'> = {},
): string {
  const last = outcomes.at(-1)?.round;
  const newest = new Set(outcomes.filter(({ round }) => round === last).flatMap((outcome) => outcome.evidence ?? []));
  const weak = new Set(subject.excerpts.filter(({ weight }) => weight < FILL).map(({ source, lineStart }) => `${source}:${lineStart}`));
  const fill = new Set(
    evidence.filter(({ tool, source, lineStart }) => tool === 'log' && weak.has(`${source}:${lineStart}`)).map(({ id }) => id),
  );
  const shown = showEvidence(evidence, { room, telling: tellingLines(subject), steps: subject.failedSections, fill, newest, ...focus });
  return `${showFacts(subject, shown)}\n\n${shown}`;
}

/** Where error lines, failing tests, exceptions, compiler messages and the ends of processes stand, most telling first. */
function tellingLines({ messages, failingTests, exceptions, diagnostics, exits }: TriageSubject): LogPosition[] {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const others = messages.slice(BEST).filter(({ text }) => roleOf(text) === 'cause');
  const read = [...messages.slice(0, BEST), ...failingTests, ...exceptions, ...errors, ...others].flatMap(({ at }) => at ?? []);
  return [...read, ...exits];
}

/** Excerpts of less weight were taken because there was room. */
const FILL = 70;
/** Messages that the ranking of lines puts first go before everything that was read by structure; of the others warnings tell nothing. */
const BEST = 3;
