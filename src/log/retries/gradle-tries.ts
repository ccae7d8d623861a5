import type { FailingTest } from '../../domain/failure.ts';
import type { LogText } from '../lines/lines.ts';
import { listRangesOfTest } from './retried-tests.ts';

/** Literals, case ignored. Every line that is needed about Gradle's tests contains one of them. */
export const GRADLE_LITERALS: readonly string[] = [
  ' FAILED',
  ' PASSED',
  '> Task :',
  'BUILD SUCCESSFUL',
  'BUILD FAILED',
  'There were failing tests',
];

const VERDICT = new RegExp(
  String.raw`^(?:Gradle (?:Test Run|Test Executor|suite)\b[^>\n]{0,100} > ){0,3}` +
    String.raw`(?<title>\S.{0,400} > \S.{0,400}) (?<says>FAILED|PASSED)$`,
);

/** The failures of one test of a task, and the line on which it passed last. */
interface Story {
  failed: number;
  readonly lines: number[];
  passedAt: number;
}

/**
 * Finds the tests of Gradle that passed when its test-retry plugin ran them again. The plugin reports each
 * attempt as a failure, and passes are only shown if the build enables that. A test has passed if its task
 * shows so, if another test of the task failed more often (a test that keeps failing is tried the maximum
 * number of times), or if the build ended without the message that there were failing tests.
 */
export function findPassedInGradle(
  log: LogText,
  lines: readonly number[],
  failing: readonly FailingTest[],
): FailingTest[] {
  const gradleTests = failing.filter(({ framework }) => framework === 'gradle');
  if (gradleTests.length === 0) return [];
  const texts = lines.map((line) => ({ line, text: log.line(line).trimEnd() }));
  const hasEnded = texts.some(({ text }) => /^BUILD (?:SUCCESSFUL|FAILED)\b/.test(text));
  if (hasEnded && !texts.some(({ text }) => text.includes('There were failing tests'))) return gradleTests;
  const over = new Set(
    listStoriesByTask(texts).flatMap((stories) => listLinesOfPassed([...stories.values()])),
  );
  return gradleTests.filter((test) => listRangesOfTest(test, log.name).every(({ start }) => over.has(start)));
}

function listStoriesByTask(
  texts: readonly { readonly line: number; readonly text: string }[],
): Map<string, Story>[] {
  const tasks = new Map<string, Map<string, Story>>();
  let task = '';
  for (const { line, text } of texts) {
    task = /^> Task (?<task>:\S{1,200})/.exec(text)?.groups?.task ?? task;
    const { title, says } = VERDICT.exec(text)?.groups ?? {};
    if (title === undefined) continue;
    const stories = tasks.get(task) ?? new Map<string, Story>();
    const story = stories.get(title) ?? { failed: 0, lines: [], passedAt: 0 };
    if (says === 'PASSED') story.passedAt = line;
    else {
      story.failed += 1;
      story.lines.push(line);
    }
    tasks.set(task, stories.set(title, story));
  }
  return [...tasks.values()];
}

function listLinesOfPassed(stories: readonly Story[]): number[] {
  const most = stories.reduce((max, { failed }) => Math.max(max, failed), 0);
  return stories.flatMap(({ failed, lines, passedAt }) =>
    passedAt > (lines.at(-1) ?? Number.POSITIVE_INFINITY) || failed < most ? lines : [],
  );
}
