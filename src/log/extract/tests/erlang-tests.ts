import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween, openTestList } from './test-list.ts';

const EUNIT = /^\s{0,12}(?:(?<suite>\w{1,100}): )(?<name>\w{1,200}_test_?)\b.{0,200}\.{3}\s?\*failed\*/;
const CT_LINE = /^\W{0,8}(?<suite>\w{1,100}_SUITE) ==> (?:\w{1,100}\.)?(?<name>\w{1,200}): FAILED$/;
const CT_REPORT = /^(?<suite>\w{1,100}_SUITE):(?<name>\w{1,200}) failed on line (?<line>\d{1,7})$/;

/** Erlang's EUnit, and Common Test as ct_run and Rebar print it. */
export const erlangTests: Extractor = {
  name: 'erlang-tests',
  literals: ['*failed*', '_SUITE ==> ', ' failed on line '],
  extract: (log, lines, found) => {
    const eunit = openTestList(log, found, 'eunit');
    const common = openTestList(log, found, 'common-test');
    for (const line of lines) {
      const text = log.line(line).trimEnd();
      const unit = EUNIT.exec(text)?.groups;
      const test = (CT_LINE.exec(text) ?? CT_REPORT.exec(text))?.groups;
      if (unit?.name !== undefined) {
        const end = blockEnd(log, line, 20, (next) => /^(?:in |\*\*|\s{2,}\S)/.test(next));
        const values = /\{expected,(?<expected>.{1,200}?)\},?\s{0,40}\n?\s{0,40}\{value,(?<actual>.{1,200}?)\}/.exec(
          linesBetween(log, line, end).join('\n'),
        )?.groups;
        eunit.add(
          { name: unit.name, suite: unit.suite ?? null, expected: values?.expected ?? null, actual: values?.actual ?? null },
          line,
          end,
        );
      } else if (test?.name !== undefined) {
        const end = blockEnd(
          log,
          line,
          20,
          (next) => next.trim() !== '' && !/^-(?: -){5,}|^\W{0,8}\w{1,100}_SUITE ==> \w{1,200}: /.test(next),
        );
        common.add(
          {
            name: test.name,
            suite: test.suite ?? null,
            line: test.line === undefined ? null : Number(test.line),
            message: said(log.line(line + 1)),
          },
          line,
          end,
        );
      }
    }
  },
};

function said(text: string): string | null {
  return /^(?:Reason: |\W{0,8}\w{1,100}_SUITE ==> )(?<reason>\S.{0,500})$/.exec(text)?.groups?.reason ?? null;
}
