import { type Classification, isFounded } from '../../src/domain/analysis.ts';
import { createSparseBuild } from '../../src/domain/build.ts';
import type { Category } from '../../src/domain/category.ts';
import type { TriageSubject } from '../../src/domain/triage.ts';
import { classifyByRules, classifyByTheseRules } from '../../src/judge/classify.ts';
import { readFacts } from '../../src/judge/facts.ts';
import { matchRule, type Rule, TELLS } from '../../src/judge/rule.ts';
import { ALL_RULES } from '../../src/judge/rules/all.ts';
import { groupCauses } from '../../src/log/causes/read-causes.ts';
import { listToolReaders } from '../../src/log/extract/run.ts';
import { listFailures } from '../../src/log/fingerprint/failures.ts';
import { classifyRole } from '../../src/log/line-roles.ts';
import { cleanLine, stripEscapes } from '../../src/log/lines/clean.ts';
import type { ReadOptions } from '../../src/log/read-sources.ts';
import { groupFailures } from '../../src/service/triage/group-failures.ts';
import { createSubject } from '../../src/service/triage/triage-subject.ts';
import { HARMLESS } from './harmless-lines.ts';
import { inventLogs } from './invented-tools.ts';
import {
  type CapturedFailure,
  createFigure,
  type GateFigure,
  isLearned,
  type Read,
  readText,
  withHarmless,
} from './reading-gates.ts';

/** The confidence from which on an answer is published without a person, by the default thresholds. */
const PUBLISHED_FROM = 0.85;

/** The function that judges a text. The gates are also tested with worse judges. */
export type Judge = (text: string, options?: Partial<ReadOptions>) => Classification;

/** The function that judges a captured failure without its own tool. */
type JudgeWithout = (failure: CapturedFailure) => Classification;

/** Judges a text as the rules analyst does, before anything is looked up. */
export const judgeText: Judge = createJudge();

/** Creates a judge of texts that uses this reader. */
export function createJudge(read: Read = readText): Judge {
  return (text, options) => classifyByRules(createSubjectFrom(text, options, read)).classification;
}

/** Checks that a harmless line anywhere outside the cause changes no category, and causes no publication. */
export function measureHarmlessJudgments(
  failures: readonly CapturedFailure[],
  each: number,
  judge: Judge = judgeText,
): GateFigure[] {
  const [changed, published]: [string[], string[]] = [[], []];
  let cases = 0;
  for (const [i, failure] of failures.entries()) {
    const before = judge(failure.text);
    for (let k = 0; k < each; k++) {
      const kind = HARMLESS[(i * each + k) % HARMLESS.length];
      if (kind === undefined) continue;
      const after = judge(withHarmless(failure, kind, i * 31 + k * 7).text);
      cases++;
      const label = `${failure.name} with ${kind.name}`;
      if (after.category !== before.category) changed.push(label);
      if (isPublished(after) && !isPublished(before) && !isAccepted(after, failure)) published.push(label);
    }
  }
  return [
    createFigure('a harmless line leaves the category', 0.95, cases, changed),
    createFigure('a harmless line publishes nothing wrong', 0.99, cases, published),
  ];
}

/**
 * Checks that, without a reader for any tool, no captured failure that was not used for training is published
 * with a wrong category.
 */
export function measureUnknownToolJudgment(
  failures: readonly CapturedFailure[],
  judge: Judge = judgeText,
): GateFigure {
  const held = failures.filter(({ heldOut, accepted }) => heldOut && accepted.length > 0);
  const leftOut = listToolReaders();
  const wrong = held.filter((failure) => {
    const judged = judge(failure.text, { leftOut });
    return isPublished(judged) && !isAccepted(judged, failure);
  });
  return createFigure(
    'failures of unknown tools not published wrongly',
    0.98,
    held.length,
    wrong.map(({ name }) => name),
  );
}

/**
 * Checks that, with the readers of all tools but without the rules named after its own tool, no captured
 * failure is published with a wrong category.
 */
export function measureOwnToolLeftOut(
  failures: readonly CapturedFailure[],
  judge: JudgeWithout = createJudgeWithout(),
): GateFigure {
  const labelled = failures.filter(({ accepted }) => accepted.length > 0);
  const wrong = labelled.filter((failure) => {
    const judged = judge(failure);
    return isPublished(judged) && !isAccepted(judged, failure);
  });
  return createFigure(
    'failures with their own tool left out not published wrongly',
    0.98,
    labelled.length,
    wrong.map(({ name }) => name),
  );
}

/** Creates a judge of captured failures that treats the tool as unknown to every reader and rule. */
export function createJudgeWithout(read: Read = readText): JudgeWithout {
  return ({ text, tool }) => {
    const words = new Set(tool.toLowerCase().split(/[^a-z0-9]+/));
    const rules = ALL_RULES.filter(({ name }) => !name.split('-').some((word) => words.has(word)));
    return classifyByTheseRules(createSubjectFrom(text, { leftOut: listToolReaders() }, read), rules)
      .classification;
  };
}

/** Checks that two lines of a tool that does not exist are not published. */
export function measureInventedToolJudgment(count: number, judge: Judge = judgeText): GateFigure {
  const logs = inventLogs(count * 3, 11)
    .filter(({ name }) => !isLearned(name))
    .slice(0, count);
  const published = logs.filter(({ lines }) => isPublished(judge(lines.join('\n'))));
  return createFigure(
    'logs of invented tools not published',
    0.9,
    logs.length,
    published.map(({ name }) => name),
  );
}

/** Checks that no line of a green log matches a decisive rule. */
export function measureRulesOnPassedLogs(
  failures: readonly CapturedFailure[],
  rules: readonly Rule[] = ALL_RULES,
): GateFigure {
  const deciding = rules.filter(({ strength, from }) => strength >= TELLS && from.includes('line'));
  const texts = failures.flatMap(({ green }) =>
    green === null ? [] : green.split('\n').map((line) => cleanLine(stripEscapes(line))),
  );
  const lines = [...new Set(texts)].filter((text) => classifyRole(text) === 'cause');
  const empty = createSubjectFrom('');
  const facts = readFacts(empty);
  const met = lines.filter((text) => {
    const one = { ...facts, all: [{ origin: 'line' as const, text, source: 'log', line: 1, weight: 1 }] };
    return deciding.some((rule) => matchRule(rule, one) !== null);
  });
  return createFigure('lines of green logs that no deciding rule meets', 0.985, lines.length, met);
}

/** Returns the subject of a text: its first failure according to the reader. */
export function createSubjectFrom(
  text: string,
  options: Partial<ReadOptions> = {},
  read: Read = readText,
): TriageSubject {
  const reading = read(text, options);
  const build = {
    ...createSparseBuild({ repository: 'gate', pipeline: 'gate', number: '1' }),
    id: 'gate',
    receivedAt: new Date(0).toISOString(),
  };
  const causes = groupCauses(listFailures(reading), reading).map((cause) => ({ ...cause, reading }));
  const [group] = groupFailures({ reading, causes }, 'gate');
  if (group === undefined) throw new Error('A reading has at least one group');
  return createSubject({ triageId: 'gate', build, group, reading, notes: [] });
}

function isPublished(judged: Classification): boolean {
  return judged.confidence >= PUBLISHED_FROM && !judged.abstained && isFounded(judged);
}

function isAccepted(
  { category }: Classification,
  { accepted }: { readonly accepted: readonly Category[] },
): boolean {
  return accepted.includes(category);
}
