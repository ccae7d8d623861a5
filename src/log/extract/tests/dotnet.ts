import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween, openTestList } from './test-list.ts';

const VSTEST =
  /^\s{0,4}(?:X |Failed |failed )(?<name>[\w.<>+`]{2,300}(?:\([^\n]{0,300}\))?) (?:\[(?:FAIL|< ?1 ?m?s|\d[\d ,.msh]{0,20})\]|\(\d[\d ,.msh]{0,20}\))$/;
const XUNIT = /^\s{0,4}(?:\[xUnit\.net [\d:.]{1,20}\])?\s{1,8}(?<name>[\w.<>+`]{2,300}(?:\([^\n]{0,300}\))?) \[FAIL\]$/;
const NUNIT = /^\d{1,5}\) (?:Failed|Error) : (?<name>\S[^\n]{0,300})$/;
const STOP =
  /^\s{0,4}(?:Passed|Failed|X|Skipped|passed|failed|skipped) \S|^(?:Total tests|Test Run|Failed!|Passed!|\[xUnit\.net )|^\d{1,5}\) |^Results File/;

/** .NET: VSTest and the testing platform for xUnit, NUnit and MSTest, xUnit's own lines, and NUnit's console. */
export const dotnet: Extractor = {
  name: 'dotnet',
  literals: ['  Failed ', '  X ', '[FAIL]', ') Failed : ', ') Error : ', 'Failed '],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'dotnet');
    let end = 0;
    for (const line of lines) {
      const text = log.line(line).trimEnd();
      const name = (VSTEST.exec(text) ?? XUNIT.exec(text) ?? (line > end ? NUNIT.exec(text) : null))?.groups?.name;
      if (name === undefined) continue;
      end = blockEnd(log, line, 50, (next) => !STOP.test(next.trimEnd()));
      list.add({ name, message: messageOf(linesBetween(log, line + 1, end)) }, line, end);
    }
  },
};

function messageOf(body: readonly string[]): string | null {
  const said = body.map((text) => text.trim().replace(/^\[xUnit\.net [\d:.]{1,20}\]\s{0,12}/, ''));
  const start = said.findIndex((text) => /^Error Message:/i.test(text)) + 1;
  return (
    said
      .slice(start)
      .find((text) => text !== '' && !/^Stack Trace:/i.test(text))
      ?.slice(0, 1_000) ?? null
  );
}
