import type { FailingTest } from '../../domain/failure.ts';
import { formatCount } from '../../lib/text.ts';
import type { LogText } from '../lines/lines.ts';
import { findPassages, namePassage, type TestReport } from './report-draft.ts';
import { isShownInLog, joinWords } from './report-excerpts.ts';

/** The maximum number of tests that a note about contradicting reports names. */
const MAX_NAMED = 5;

/**
 * Creates a function that tells whether a report and a log describe the same run of a test: one contains the
 * message of the other, or both have the same expected and actual value. A missing message counts as
 * agreement.
 */
export function createAgreement(
  reports: readonly TestReport[],
  logs: readonly LogText[],
): (reported: FailingTest, logged: FailingTest) => boolean {
  return (reported, logged) => {
    if (reported.message === null || logged.message === null) return true;
    if (isShownInLog({ ...logged, message: reported.message }, logs)) return true;
    const texts = reports
      .flatMap((report) => findPassages(report, reported, reported.spans ?? []))
      .flatMap(({ lines }) => lines);
    const reportedWords = joinWords(`${texts.map(({ text }) => text).join(' ')} ${reported.message}`);
    const words = logged.message.split('\n').map((line) => joinWords(line).slice(0, 160));
    if (words.some((line) => line.length > 5 && reportedWords.includes(line))) return true;
    const { expected, actual } = reported;
    return expected !== null && actual !== null && expected === logged.expected && actual === logged.actual;
  };
}

/** Describes, for people, that a report and a log contradict each other about a test. */
export function noteContradiction(reported: FailingTest, logged: FailingTest): string {
  const [report, log] = [reported.at?.source ?? 'the report', logged.at?.source ?? 'the log'];
  return (
    `${report} says something else of ${nameTest(reported)} than ${log}: ` +
    'they are of different attempts, and the log is used.'
  );
}

function nameTest({ suite, name }: Pick<FailingTest, 'suite' | 'name'>): string {
  return `${suite === null ? '' : `${suite}.`}${name}`.replace(/\s+/g, ' ').slice(0, 300);
}

/** Lists, for people, the tests that failed in one report and passed in another. */
export function noteDisagreements(reports: readonly TestReport[]): string[] {
  if (reports.length < 2) return [];
  const failedIn = new Map<string, string>();
  for (const { source, testResults } of reports)
    for (const test of testResults) if (test.status === 'failed') failedIn.set(namePassage(test), source);
  const named = reports.flatMap(({ source, testResults }) =>
    testResults.flatMap((test) => {
      const other = test.status === 'passed' ? failedIn.get(namePassage(test)) : undefined;
      if (other === undefined || other === source) return [];
      return [`${nameTest(test)} failed in ${other} and passed in ${source}.`];
    }),
  );
  const more = named.length - MAX_NAMED;
  return [
    ...named.slice(0, MAX_NAMED),
    ...(more > 0 ? [`${formatCount(more, 'more test')} failed in one report and passed in another.`] : []),
  ];
}
