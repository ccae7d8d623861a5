import { splitExpectation } from '../../expectation.ts';
import type { LogText } from '../../lines/lines.ts';
import type { ServiceMessage } from '../../service-messages.ts';
import { readServiceMessage } from '../../service-messages.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { failingTest } from '../extraction.ts';

const MAX_TESTS = 2_000;

/**
 * TeamCity service messages, as its plugins for most test frameworks print them, whole in one line: failed tests with what they wanted
 * and got, build problems, and messages of status ERROR.
 */
export const teamcity: Extractor = {
  name: 'teamcity',
  literals: ['##teamcity[testfailed', '##teamcity[testsuite', '##teamcity[buildproblem', '##teamcity[message'],
  extract: (log, lines, found) => {
    const suites = new Map<string, string[]>();
    // The framework's own output beside the messages tells the same tests by their plain names.
    const known = new Set(found.failingTests.map(({ name }) => name));
    let tests = 0;
    for (const line of lines) {
      const message = readServiceMessage(wholeLine(log, line));
      if (message === null) continue;
      if (message.name.startsWith('testSuite')) follow(message, suites);
      else if (message.name === 'testFailed') {
        if (tests < MAX_TESTS && !isKnown(message, known)) addTest(log, line, message, suites, found, tests++);
      } else addProblem(log, line, message, found);
    }
  },
};

/** Messages are long: details hold a whole stack trace. What cleaning cut off is taken from the stored line. */
function wholeLine(log: LogText, line: number): string {
  const raw = log.raw(line);
  return raw.slice(Math.max(0, raw.indexOf('##teamcity[')), 40_000);
}

/** Suites nest within one flow: parallel tests each have their own. */
function follow({ name, attributes }: ServiceMessage, suites: Map<string, string[]>): void {
  const flow = attributes.get('flowId') ?? '';
  const open = suites.get(flow) ?? [];
  const suite = attributes.get('name') ?? '';
  if (name === 'testSuiteStarted' && open.length < 50) suites.set(flow, [...open, suite]);
  else if (open.includes(suite)) suites.set(flow, open.slice(0, open.lastIndexOf(suite)));
}

function addTest(
  log: LogText,
  line: number,
  { attributes }: ServiceMessage,
  suites: ReadonlyMap<string, readonly string[]>,
  found: Extraction,
  nth: number,
): void {
  const details = attributes.get('details') ?? '';
  const told = attributes.get('message')?.trim() ?? '';
  const message = told === '' ? (details.trim().split('\n')[0] ?? '') : told;
  const guess = splitExpectation(`${told}\n${details}`);
  const place = placeIn(details);
  found.failingTests.push(
    failingTest(log, line, 'teamcity', {
      name: (attributes.get('name') ?? 'test').slice(0, 500),
      suite: (suites.get(attributes.get('flowId') ?? '') ?? suites.get(''))?.filter((name) => name !== '').join(' / ') || null,
      file: place.file,
      line: place.line,
      message: message.slice(0, 1_000) || null,
      expected: attributes.get('expected')?.slice(0, 500) ?? guess.expected,
      actual: attributes.get('actual')?.slice(0, 500) ?? guess.actual,
    }),
  );
  found.blocks.push({ start: line, end: line, weight: 88 - Math.min(nth, 30) * 0.4, reason: 'failing test (TeamCity)' });
}

function isKnown({ attributes }: ServiceMessage, known: ReadonlySet<string>): boolean {
  const name = attributes.get('name') ?? '';
  return known.has(name) || known.has(name.slice(name.lastIndexOf('.') + 1));
}

/** Where the test complains, as pytest (`test_a.py:7: AssertionError`) and Python's own traces write it. */
function placeIn(details: string): { readonly file: string | null; readonly line: number | null } {
  const last = [
    ...details.slice(0, 20_000).matchAll(/^(?:([\w./\\-]{1,200}\.\w{1,5}):(\d{1,6}): |\s{0,8}File "([^"\n]{1,300})", line (\d{1,6}))/gm),
  ].at(-1);
  const file = last?.[1] ?? last?.[3] ?? null;
  return { file, line: file === null ? null : Number(last?.[2] ?? last?.[4]) };
}

function addProblem(log: LogText, line: number, { name, attributes }: ServiceMessage, found: Extraction): void {
  const isProblem = name === 'buildProblem';
  if (!isProblem && !/^(?:ERROR|FAILURE)$/.test(attributes.get('status') ?? '')) return;
  const text = (attributes.get('description') ?? attributes.get('text') ?? '').trim();
  if (text === '') return;
  const weight = isProblem ? 70 : 60;
  found.blocks.push({ start: line, end: line, weight, reason: isProblem ? 'build problem (TeamCity)' : 'error message (TeamCity)' });
  found.messages.push({ text: text.slice(0, 500), at: { source: log.name, line }, weight });
}
