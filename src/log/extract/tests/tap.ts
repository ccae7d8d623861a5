import { splitExpectation } from '../../expectation.ts';
import type { Named, Runner } from './shapes.ts';

const NOT_OK = /^\s{0,40}not ok (?<number>\d{1,7})?(?: -)? ?(?<name>[^#]{0,300}?)(?:\s{0,4}# time=.{0,200})?\s{0,4}$/i;
const COMPLAINT =
  /^(?:#\s{0,4})?(?:fatal|abort|assertion|terminate called|segmentation|panic|killed|\W{0,4}error\b|uncaught|.{0,60}\b(?:Error|Exception|FATAL ERROR|Check failed|Assertion)\b)/i;
/** Beginnings of what a test runner printed, rather than of a message. */
const OUTPUT = /^(?:TAP version|\[process |[▶✔✖#{<[]|-{3}|ok \d|not ok )/;

/** Test Anything Protocol, node:test's and node's own among it: `not ok 3 name` with YAML or comments below. */
export const TAP: Runner = {
  name: 'tap',
  literals: ['not ok '],
  shapes: [
    { head: NOT_OK, next: /^\s{0,60}---/, body: 'open', until: /^\s{0,60}\.\.\.\s{0,4}$/, limit: 80, finish: tapTest },
    { head: NOT_OK, body: 'open', until: /^(?!\s{0,40}#)/, limit: 12, finish: tapTest },
  ],
};

function tapTest(named: Named, body: readonly string[]): Named | null {
  const yaml = (key: string) =>
    body
      .map((text) => new RegExp(`^\\s{0,60}${key}: ?['"]?(.{0,300}?)['"]?$`).exec(text)?.[1])
      .find((value) => value !== undefined && value !== '');
  const error = yaml('error');
  if (/subtestsFailed|^\d{1,5} subtests? failed/.test(`${yaml('failureType')} ${error}`)) return null;
  const place =
    /^(?<file>[^:]{1,300}):(?<line>\d{1,6}):\d{1,5}$/.exec(yaml('location') ?? '')?.groups ??
    body.map((text) => /in test file (?<file>.{1,300}), line (?<line>\d{1,7})\)/.exec(text)?.groups).find((one) => one !== undefined);
  const thrown = body.map((text) => text.trim()).find((text) => /^\w{0,60}(?:Error|Exception)\b.{0,20}: /.test(text));
  const block = body[body.findIndex((text) => text.trim() === 'error: |-') + 1]?.trim();
  const long = thrown ?? (error === '|-' ? block : undefined) ?? yaml('message') ?? ending(body, yaml('severity'), yaml('exitcode'));
  const sides = splitExpectation(body.join('\n'));
  return {
    ...place,
    name: named.name || `test ${named.number ?? ''}`,
    message: (error === '|-' ? undefined : error) ?? long ?? commentBelow(body) ?? '',
    expected: yaml('expected') ?? yaml('wanted') ?? sides.expected ?? undefined,
    actual: yaml('actual') ?? yaml('found') ?? sides.actual ?? undefined,
  };
}

/** What the test's process said or how it ended, where nothing was thrown: its own complaint, a time limit, a crash. */
function ending(body: readonly string[], severity: string | undefined, code: string | undefined): string | undefined {
  const start = body.findIndex((text) => /^\s{0,60}stack: \|-/.test(text));
  const said = start === -1 ? [] : body.slice(start + 1).map((text) => text.trim());
  if (said[0] === 'timeout') return 'timed out';
  const first = said.find((text) => text !== '');
  const complaint = said.find((text) => COMPLAINT.test(text)) ?? (first === '...' || OUTPUT.test(first ?? '') ? undefined : first);
  if (complaint !== undefined) return complaint;
  // Any test that fails may end with 1; other codes say how.
  return code === undefined || code === '1' ? undefined : `${severity === 'crashed' ? 'crashed' : 'ended'} with exit code ${code}`;
}

/** Bats and others say below what failed in comments. */
function commentBelow(body: readonly string[]): string | undefined {
  const said = body.filter((text) => /^\s{0,40}#/.test(text)).map((text) => text.replace(/^\s{0,40}#\s{0,8}/, ''));
  return said.find((text) => text !== '' && !/^\((?:from function|in test file)|^\s{0,4}in test file/.test(text));
}
