import { splitExpectation } from '../../expectation.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { failingTest } from '../extraction.ts';

const NOT_OK =
  /^(?<indent>\s{0,40})not ok (?<number>\d{1,7})?(?: -)? ?(?<name>[^#]{0,300}?)(?:\s{0,4}# (?<directive>TODO|SKIP|time=).{0,200})?\s{0,4}$/i;
const MAX_LINES = 80;

/** Test Anything Protocol, node:test's and node's own among it: `not ok 3 name` with YAML below. */
export const tap: Extractor = {
  name: 'tap',
  literals: ['not ok '],
  extract: (log, lines, found) => {
    let nth = 0;
    for (const line of lines) {
      const groups = NOT_OK.exec(log.line(line))?.groups;
      if (groups === undefined || /todo|skip/i.test(groups.directive ?? '')) continue;
      nth += read(log, line, groups.name || `test ${groups.number ?? ''}`, found, nth);
    }
  },
};

function read(log: LogText, line: number, name: string, found: Extraction, nth: number): number {
  const end = yamlEnd(log, line);
  const body = Array.from({ length: Math.min(end - line, 60) }, (_, i) => log.line(line + 1 + i));
  const yaml = (key: string) =>
    body
      .map((text) => new RegExp(`^\\s{0,60}${key}: ?['"]?(.{0,300}?)['"]?$`).exec(text)?.[1])
      .find((value) => value !== undefined && value !== '') ?? null; // prettier-ignore
  if (/subtestsFailed|^\d{1,5} subtests? failed/.test(`${yaml('failureType')} ${yaml('error')}`)) return 0;
  const thrown = body.map((text) => text.trim()).find((text) => /^\w{0,60}(?:Error|Exception)\b.{0,20}: /.test(text)) ?? null;
  const at = /^(?<file>[^:]{1,300}):(?<line>\d{1,6}):\d{1,5}$/.exec(yaml('location') ?? '')?.groups;
  const error = yaml('error');
  const message =
    error === '|-' || error === null
      ? (thrown ?? blockText(body, 'error') ?? yaml('message') ?? ending(body, yaml('severity'), yaml('exitcode')))
      : error;
  const script = body
    .map((text) => /in test file (?<file>.{1,300}), line (?<line>\d{1,7})\)/.exec(text)?.groups)
    .find((one) => one !== undefined);
  const place = at ?? script;
  const { expected, actual } = splitExpectation(body.join('\n'));
  const known = { expected: yaml('expected') ?? yaml('wanted') ?? expected, actual: yaml('actual') ?? yaml('found') ?? actual };
  found.failingTests.push(
    failingTest(log, line, 'tap', {
      name,
      file: place?.file ?? null,
      line: place?.line === undefined ? null : Number(place.line),
      message: (message ?? commentBelow(body))?.slice(0, 1_000) ?? null,
      ...known,
    }),
  );
  const less = Math.min(nth, 30) * 0.4;
  found.blocks.push({ start: line, end, weight: 87 - less, reason: 'failing TAP test' });
  found.blocks.push({ start: line, end: Math.min(end, line + 12), weight: 90 - less, reason: 'failing TAP test' });
  return 1;
}

/** What the test's process said or how it ended, where nothing was thrown: its own complaint, a time limit, a crash. */
function ending(body: readonly string[], severity: string | null, code: string | null): string | null {
  const start = body.findIndex((text) => /^\s{0,60}stack: \|-/.test(text));
  const said = start === -1 ? [] : body.slice(start + 1).map((text) => text.trim());
  if (said[0] === 'timeout') return 'timed out';
  const complaint = said.find((text) => COMPLAINT.test(text));
  if (complaint !== undefined) return complaint;
  const first = said.find((text) => text !== '');
  if (first !== undefined && first !== '...' && !OUTPUT.test(first)) return first;
  // Any test that fails may end with 1; other codes say how.
  return code === null || code === '1' ? null : `${severity === 'crashed' ? 'crashed' : 'ended'} with exit code ${code}`;
}

const COMPLAINT =
  /^(?:#\s{0,4})?(?:fatal|abort|assertion|terminate called|segmentation|panic|killed|\W{0,4}error\b|uncaught|.{0,60}\b(?:Error|Exception|FATAL ERROR|Check failed|Assertion)\b)/i;

/** Beginnings of what a test runner printed, rather than of a message. */
const OUTPUT = /^(?:TAP version|\[process |[▶✔✖#{<[]|-{3}|ok \d|not ok )/;

/** Bats and others say below what failed in comments. */
function commentBelow(body: readonly string[]): string | null {
  const said = body.filter((text) => /^\s{0,40}#/.test(text)).map((text) => text.replace(/^\s{0,40}#\s{0,8}/, ''));
  return said.find((text) => text !== '' && !/^\((?:from function|in test file)|^\s{0,4}in test file/.test(text)) ?? null;
}

function blockText(body: readonly string[], key: string): string | null {
  const at = body.findIndex((text) => text.trim() === `${key}: |-`);
  return at === -1 ? null : (body[at + 1]?.trim() ?? null);
}

function yamlEnd(log: LogText, line: number): number {
  const last = Math.min(log.lineCount, line + MAX_LINES);
  if (!/^\s{0,60}---/.test(log.line(line + 1))) {
    let end = line;
    while (end < last && end < line + 12 && /^\s{0,40}#/.test(log.line(end + 1))) end++;
    return end;
  }
  let end = line + 1;
  while (end < last && !/^\s{0,60}\.\.\.\s{0,4}$/.test(log.line(end))) end++;
  return end;
}
