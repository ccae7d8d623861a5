import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween, openTestList } from './test-list.ts';

const HEAD = /^\s{0,8}(?:(?<name>\S.{0,300}?): )?(?:Test Failed|Error During Test) at (?<file>[^\n]{1,300}):(?<line>\d{1,7})$/;

/** Julia's Test: `set: Test Failed at file:line`, the expression and what it evaluated to. */
export const juliaTest: Extractor = {
  name: 'julia-test',
  literals: ['Test Failed at ', 'Error During Test at '],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'julia-test');
    for (const line of lines) {
      const head = HEAD.exec(log.line(line).trimEnd())?.groups;
      if (head?.file === undefined) continue;
      const end = blockEnd(log, line, 40, (text) => /^\s{1,8}\S|^(?:Stacktrace|Caused by)/.test(text) && !HEAD.test(text.trimEnd()));
      const body = linesBetween(log, line + 1, end).map((text) => text.trim());
      const values = body
        .map((text) => /^Evaluated: (?<actual>.{1,300}?) (?:==|≈|===|isequal) (?<expected>.{1,300})$/.exec(text)?.groups)
        .find((one) => one !== undefined);
      const known = { message: body[0] || null, expected: values?.expected ?? null, actual: values?.actual ?? null };
      list.add({ name: head.name ?? `${head.file}:${head.line}`, file: head.file, line: Number(head.line), ...known }, line, end);
    }
  },
};
