import { readFrame } from '../../frames.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween, openTestList } from './test-list.ts';

const FAILED = /^FAILED: (?<name>[\w$.]{1,400})(?<parameters>\(.{0,300}\))?$/;
const THROWN = /^[a-z][\w.$]{2,300}(?:Error|Exception|Failure)\b/;

/** TestNG's own text report: `FAILED: addsUp("a", 1)` and the exception below. Under Maven the same tests are told by Surefire. */
export const testng: Extractor = {
  name: 'testng',
  literals: ['FAILED: '],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'testng');
    const known = new Set(found.failingTests.map(({ name }) => name.replace(/[([].*$/, '')));
    for (const line of lines) {
      const test = FAILED.exec(log.line(line).trimEnd())?.groups;
      const thrown = test === undefined ? null : thrownBelow(log, line);
      if (test?.name === undefined || thrown === null) continue;
      const end = blockEnd(log, thrown, 60, (text) => /^\s{1,8}(?:at |\.\.\. )|^Caused by: /.test(text));
      const dot = test.name.lastIndexOf('.');
      const method = test.name.slice(dot + 1);
      if (known.has(method)) continue;
      const frames = linesBetween(log, thrown, end).map(readFrame);
      const frame = frames.find((one) => one?.function?.endsWith(`.${method}`) === true) ?? frames.find((one) => one?.own === true);
      const suite = dot > 0 ? test.name.slice(0, dot) : (frame?.function?.slice(0, -method.length - 1) ?? null);
      const at = { file: frame?.file ?? null, line: frame?.line ?? null };
      list.add({ name: `${method}${test.parameters ?? ''}`, suite, message: log.line(thrown).trim(), ...at }, line, end);
    }
  },
};

function thrownBelow(log: LogText, line: number): number | null {
  for (let at = line + 1; at <= line + 3; at++) if (THROWN.test(log.line(at))) return at;
  return null;
}
