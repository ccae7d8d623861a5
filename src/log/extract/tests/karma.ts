import type { LogText } from '../../lines/lines.ts';
import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import type { TestList } from './test-list.ts';
import { openTestList } from './test-list.ts';

const BROWSER = /^\s{0,4}[A-Z]\w{1,30}(?: [A-Z]\w{1,30}){0,3} ?\d{1,4}(?:\.\d{1,6}){0,4} \([^()\n]{1,60}\) (?<name>\S.{0,400}?) FAILED$/;
const MARKED = /^(?<indent>\s{2,40})✖ (?<name>\S.{0,300})$/;

/** Karma: a line for each browser and failing test, and the list of its mocha reporter. */
export const karma: Extractor = {
  name: 'karma',
  literals: [') FAILED', ' FAILED', 'FAILED TESTS:'],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'karma');
    for (const line of lines) {
      const text = log.line(line).trimEnd();
      const name = BROWSER.exec(text)?.groups?.name;
      if (name !== undefined && !/^Executed \d/.test(name))
        list.add(
          { name },
          line,
          blockEnd(log, line, 30, (next) => /^\s{1,12}\S/.test(next)),
        );
      else if (/^\s{0,4}FAILED TESTS:$/.test(text)) readList(log, line, list);
    }
  },
};

/** Suites are headings, indented less than what they hold. */
function readList(log: LogText, head: number, list: TestList): void {
  const path: { indent: number; name: string }[] = [];
  const end = blockEnd(log, head, 2_000, (text) => text.trim() === '' || /^\s{2}/.test(text));
  for (let line = head + 1; line <= end; line++) {
    const text = log.line(line).trimEnd();
    const test = MARKED.exec(text)?.groups;
    const indent = text.search(/\S/);
    if (indent === -1) continue;
    if (test?.name === undefined) {
      while ((path.at(-1)?.indent ?? -1) >= indent) path.pop();
      path.push({ indent, name: text.trim() });
      continue;
    }
    while ((path.at(-1)?.indent ?? -1) >= indent) path.pop();
    const last = blockEnd(log, line, 40, (next) => next.trim() !== '' && next.search(/\S/) > 3 && !MARKED.test(next.trimEnd()));
    list.add(
      { name: test.name, suite: path.map(({ name }) => name).join(' ') || null, message: log.line(line + 2).trim() || null },
      line,
      last,
    );
    line = last;
  }
}
