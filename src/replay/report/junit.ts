import { isRight, judgedCases } from '../figures/figure.ts';
import type { ReplayedCase } from '../run/replay.ts';

/** What a CI server shows as one test suite. */
export interface JunitSuite {
  readonly name: string;
  readonly tests: readonly JunitTest[];
}

export interface JunitTest {
  readonly name: string;
  readonly seconds: number;
  /** What was expected and did not come. */
  readonly failure?: string;
  /** Why nothing came. */
  readonly error?: string;
  /** Told below it, such as the root cause. */
  readonly output?: string;
}

/** A suite of cases: one that failed is an error, one that was answered with a wrong category a failure. */
export function casesSuite(name: string, cases: readonly ReplayedCase[]): JunitSuite {
  return { name, tests: cases.map(testOf) };
}

function testOf(one: ReplayedCase): JunitTest {
  const { result } = one;
  const test = { name: result.id, seconds: result.milliseconds / 1000 };
  if (result.error !== null) return { ...test, error: result.error };
  const output = [result.rootCause, result.fixRecommendation].filter((text) => text !== null).join('\n\n');
  const told = output === '' ? test : { ...test, output };
  const wrong = wrongText(one);
  return wrong === null ? told : { ...told, failure: wrong };
}

/** What was said instead of the truth; null where it is right, or nobody knows, or nobody was asked. */
function wrongText(one: ReplayedCase): string | null {
  const { result } = one;
  const [judged] = judgedCases([one]);
  if (judged === undefined || result.analyst === null || isRight(judged)) return null;
  const sure = result.confidence === null ? '' : ` with ${Math.round(result.confidence * 100)} %`;
  return `said ${result.category ?? 'nothing'}${sure}, correct is ${judged.accepted.join(' or ')}`;
}

/** JUnit XML, as CI servers read it (the dialect of Surefire). */
export function renderJunit(suites: readonly JunitSuite[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.map(suiteXml).join('')}</testsuites>\n`;
}

function suiteXml({ name, tests }: JunitSuite): string {
  const failures = tests.filter(({ failure }) => failure !== undefined).length;
  const errors = tests.filter(({ error }) => error !== undefined).length;
  const seconds = tests.reduce((total, test) => total + test.seconds, 0);
  const head = `  <testsuite name="${xml(name)}" tests="${tests.length}" failures="${failures}" errors="${errors}" skipped="0" time="${seconds.toFixed(3)}">\n`;
  return `${head}${tests.map((test) => testXml(name, test)).join('')}  </testsuite>\n`;
}

function testXml(suite: string, { name, seconds, failure, error, output }: JunitTest): string {
  const inside = [
    failure === undefined ? '' : `<failure message="${xml(failure)}"/>`,
    error === undefined ? '' : `<error message="${xml(error)}"/>`,
    output === undefined ? '' : `<system-out>${xml(output)}</system-out>`,
  ].join('');
  const head = `    <testcase classname="${xml(suite)}" name="${xml(name)}" time="${seconds.toFixed(3)}"`;
  return inside === '' ? `${head}/>\n` : `${head}>${inside}</testcase>\n`;
}

/** What XML 1.0 does not allow, escaped or not; it comes out as U+FFFD. Lone surrogates are not characters. */
const NO_CHARACTER = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function xml(text: string): string {
  return text
    .replace(NO_CHARACTER, '\ufffd')
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
    .replace(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}
