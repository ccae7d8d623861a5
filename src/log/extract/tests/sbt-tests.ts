import type { LogText } from '../../lines/lines.ts';
import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import type { TestList } from './test-list.ts';
import { linesBetween, lookBack, openTestList } from './test-list.ts';

const TAG = /^\[(?:info|error|warn)\] ?/;
const SCALATEST = /^\s{0,20}- (?<name>\S.{0,300}?) \*\*\* FAILED \*\*\*/;
const SPECS2 = /^\[error\]\s{1,20}[x!✘] (?<name>\S.{0,300})$/;
const MUNIT = /^==> X (?<suite>[\w.$]{1,200})\.(?<name>\S.{0,300}?)\s{1,4}\d{1,6}\.\d{1,4}s ?(?<message>.{0,500})/;
const JUNIT = /^\[error\] Test (?<suite>[\w.$]{1,300})\.(?<name>[^\s.]{1,300}) failed: (?<message>.{0,500}?)(?:, took [\d.]{1,12} sec)?$/;
const PLACE = /\((?<file>[\w$-]{1,120}\.(?:scala|java)):(?<line>\d{1,7})\)/;

/** Scala's tests, under sbt and Maven: ScalaTest, specs2, MUnit, and JUnit through sbt. */
export const sbtTests: Extractor = {
  name: 'scala-tests',
  literals: ['*** FAILED ***', '[error]   ', '==> X ', '[error] Test '],
  extract: (log, lines, found) => {
    const scalatest = openTestList(log, found, 'scalatest');
    const specs2 = openTestList(log, found, 'specs2');
    const munit = openTestList(log, found, 'munit');
    const junit = openTestList(log, found, 'junit');
    for (const line of lines) {
      const text = log.line(line).trimEnd();
      const plain = text.replace(TAG, '');
      const one = MUNIT.exec(plain)?.groups;
      const test = JUNIT.exec(text)?.groups;
      if (one?.name !== undefined) munit.add({ ...one, name: one.name, ...placeIn(one.message ?? '') }, line, frameEnd(log, line));
      else if (test?.name !== undefined) junit.add({ ...test, name: test.name }, line, frameEnd(log, line));
      else if (plain.includes('*** FAILED ***')) readScalatest(log, line, plain, scalatest);
      else readSpecs2(log, line, text, specs2);
    }
  },
};

function readScalatest(log: LogText, line: number, plain: string, list: TestList): void {
  const name = SCALATEST.exec(plain)?.groups?.name;
  if (name === undefined) return;
  const indent = plain.search(/\S/);
  const end = blockEnd(log, line, 12, (text) => TAG.test(text) === TAG.test(log.line(line)) && text.replace(TAG, '').search(/\S/) > indent);
  const suite = lookBack(log, line, 300, (text) => /^(?:\[info\] )?(?<suite>[A-Z]\w{1,100}):$/.exec(text.trimEnd())?.groups?.suite)?.value;
  const said = linesBetween(log, line + 1, end).map((text) => text.replace(TAG, '').trim());
  const message = said[0]?.replace(PLACE, '').trim() || null;
  const values = /^(?<actual>.{1,300}?) did not equal (?<expected>.{1,300}?)(?: \(|$)/.exec(said[0] ?? '')?.groups;
  const known = { message, expected: values?.expected ?? null, actual: values?.actual ?? null, ...placeIn(said.join('\n')) };
  list.add({ name, suite: suite ?? null, ...known }, line, end);
}

/** specs2 marks a failed example on an error line, and what it got on the next, with its place. */
function readSpecs2(log: LogText, line: number, text: string, list: TestList): void {
  const name = SPECS2.exec(text)?.groups?.name;
  const said = log
    .line(line + 1)
    .replace(TAG, '')
    .trim();
  const place = placeIn(said);
  if (name === undefined || place.file === undefined) return;
  list.add({ name, ...place, message: said.replace(PLACE, '').trim() || null }, line, line + 1);
}

function frameEnd(log: LogText, line: number): number {
  return blockEnd(log, line, 20, (text) => /^\s{1,8}(?:at |\d{1,6}:|[<>+-])|^\[error\]\s{2,8}at /.test(text));
}

function placeIn(text: string): { file?: string; line?: number } {
  const place = PLACE.exec(text)?.groups ?? /(?<file>[^\s:]{1,300}\.scala):(?<line>\d{1,7})/.exec(text)?.groups;
  return place?.file === undefined ? {} : { file: place.file, line: Number(place.line) };
}
