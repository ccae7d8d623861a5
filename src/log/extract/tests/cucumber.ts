import type { LogText } from '../../lines/lines.ts';
import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween, openTestList } from './test-list.ts';

const LISTED =
  /^\s{0,6}(?:(?:rerun )?cucumber (?:-p \S{1,60} )?|file:\/\/)?(?<file>[^\s:]{1,300}\.feature):(?<line>\d{1,7})(?:\s{1,80}(?:# )?(?:Scenario(?: Outline| Template)?: )?(?<name>\S.{0,300}))?$/;
const SCENARIO =
  /^\s{0,8}(?:\d{1,5}\) )?(?:Scenario(?: Outline| Template)?|Example): (?<name>\S.{0,300}?)\s{1,80}# (?:file:\/\/)?(?<file>[^\s:]{1,300}\.feature):(?<line>\d{1,7})/;
const SAID =
  /^\s{2,20}(?:Assertion Failed: |ASSERT FAILED: |ERROR: )?(?<message>(?:[\w:.]{1,80}(?:Error|Exception|NotMetError)\b|ASSERT FAILED|Assertion Failed).{0,500}|(?<=FAILED: |Failed: ).{1,500})/;

/** Cucumber of every language, and behave: the list of failing scenarios, and what was said where each ran. */
export const cucumber: Extractor = {
  name: 'cucumber',
  literals: ['Failing scenarios:', 'Failed scenarios:', 'Errored scenarios:', 'Scenario: ', 'Scenario Outline: ', 'Scenario Template: '],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'cucumber');
    const ran = new Map<string, number>();
    for (const line of lines) {
      const text = log.line(line).trimEnd();
      const place = SCENARIO.exec(text)?.groups;
      if (place?.file !== undefined) ran.set(`${place.file}:${place.line}`, line);
      if (!/^\s{0,4}(?:Failing|Failed|Errored) scenarios:$/i.test(text)) continue;
      const end = blockEnd(log, line, 500, (next) => LISTED.test(next.trimEnd()));
      found.blocks.push({ start: line, end: Math.min(end, line + 40), weight: 74, reason: 'failing scenarios' });
      for (let at = line + 1; at <= end; at++) {
        const test = LISTED.exec(log.line(at).trimEnd())?.groups;
        if (test === undefined) continue;
        const known = { name: test.name?.trim() ?? `${test.file}:${test.line}`, file: test.file ?? null, line: Number(test.line) };
        const start = ran.get(`${test.file}:${test.line}`);
        if (start !== undefined && start < line) list.add({ ...known, ...whatWasSaid(log, start) }, start, scenarioEnd(log, start));
        list.add(known, at, at);
      }
    }
  },
};

function scenarioEnd(log: LogText, start: number): number {
  return blockEnd(log, start, 80, (text) => !/^\s{0,8}(?:Scenario|Example|Rule|Feature|Failing|Failed|Errored)\b[^:]{0,20}:/i.test(text));
}

function whatWasSaid(log: LogText, start: number): { message: string | null } {
  const body = linesBetween(log, start + 1, scenarioEnd(log, start));
  const said = body.map(
    (text) => /^\s{2,20}(?:Assertion Failed|ASSERT FAILED): (.{1,500})$/.exec(text)?.[1] ?? SAID.exec(text)?.groups?.message,
  );
  return { message: said.find((one) => one !== undefined)?.trim() ?? null };
}
