import type { Build } from '../domain/build.ts';
import type { Excerpt, FailingTest, LogPosition } from '../domain/failure.ts';
import type { FailureGroup, Reading, Survey } from '../domain/reading.ts';
import type { TriageSubject } from '../domain/triage.ts';

/** Enough structured facts for any judgement, few enough for a checkpoint of a few kilobytes. */
const MAX_FACTS = 30;

/** What the graph is given for one group: the facts of that group, without what belongs to other groups of the build only. */
export function subjectOf(input: {
  readonly triageId: string;
  readonly build: Build;
  readonly group: FailureGroup;
  readonly groups: readonly FailureGroup[];
  readonly reading: Reading;
  readonly notes: readonly string[];
  readonly survey?: Survey | null;
}): TriageSubject {
  const { group, reading } = input;
  const foreign = foreignPositions(input.groups, group);
  const excerpts = reading.excerpts.filter((excerpt) => !holdsOnlyForeign(excerpt, foreign, group));
  const within = (at: LogPosition | null) => at === null || excerpts.length === reading.excerpts.length || liesIn(at, excerpts);
  return {
    triageId: input.triageId,
    build: input.build,
    failures: group.failures.slice(0, MAX_FACTS),
    fingerprint: group.fingerprint,
    generic: group.generic,
    excerpts,
    failingTests: testsOf(group).slice(0, MAX_FACTS),
    diagnostics: reading.diagnostics.filter((one) => within(one.at)).slice(0, MAX_FACTS),
    exceptions: reading.exceptions.filter((one) => within(one.at)).slice(0, MAX_FACTS),
    messages: reading.messages.filter((one) => within(one.at)).slice(0, MAX_FACTS),
    exits: reading.exits.slice(-MAX_FACTS),
    failedSections: reading.failedSections.slice(0, MAX_FACTS),
    toolchains: reading.toolchains,
    notes: [...reading.notes, ...input.notes],
    sources: reading.sources,
    tokens: reading.tokens,
    ...(input.survey == null ? {} : { survey: input.survey }),
  };
}

function testsOf(group: FailureGroup): FailingTest[] {
  return group.failures.flatMap((failure) => (failure.test === null ? [] : [failure.test]));
}

function foreignPositions(groups: readonly FailureGroup[], own: FailureGroup): LogPosition[] {
  return groups.filter((group) => group !== own).flatMap((group) => positionsOf(group));
}

function positionsOf(group: FailureGroup): LogPosition[] {
  return testsOf(group).flatMap((test) => (test.at === null ? [] : [test.at]));
}

/** An excerpt that shows failures of other groups and none of this one would mislead; shared context stays. */
function holdsOnlyForeign(excerpt: Excerpt, foreign: readonly LogPosition[], own: FailureGroup): boolean {
  if (positionsOf(own).some((at) => holds(excerpt, at))) return false;
  return foreign.some((at) => holds(excerpt, at));
}

function liesIn(at: LogPosition, excerpts: readonly Excerpt[]): boolean {
  return excerpts.some((excerpt) => holds(excerpt, at));
}

function holds(excerpt: Excerpt, at: LogPosition): boolean {
  return excerpt.source === at.source && excerpt.lineStart <= at.line && at.line <= excerpt.lineEnd;
}
