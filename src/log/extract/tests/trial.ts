import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween, openTestList } from './test-list.ts';

const RULE = /^={70,90}$/;
const NAME = /^[A-Za-z_][\w.]{2,300}$/;

/** Twisted's trial: a traceback under `[FAIL]` or `[ERROR]`, and below it the names of the tests that ended so. */
export const trial: Extractor = {
  name: 'trial',
  literals: ['[FAIL]', '[ERROR]'],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'trial');
    for (const line of lines) {
      if (!/^\[(?:FAIL|ERROR)\]$/.test(log.line(line).trimEnd()) || !RULE.test(log.line(line - 1))) continue;
      const end = blockEnd(log, line, 200, (text) => !RULE.test(text) && !/^-{70,90}$/.test(text));
      const names = namesAtEnd(linesBetween(log, Math.max(line, end - 50), end));
      const thrown = Array.from({ length: end - line }, (_, i) => log.line(line + 1 + i)).find((text) =>
        /^[A-Za-z_][\w.]{2,200}: (?!Traceback)/.test(text),
      );
      for (const path of names) {
        const dot = path.lastIndexOf('.');
        list.add({ name: path.slice(dot + 1), suite: dot > 0 ? path.slice(0, dot) : null, message: thrown?.trim() ?? null }, line, end);
      }
    }
  },
};

function namesAtEnd(body: readonly string[]): string[] {
  const blank = body
    .map((text) => text.trim())
    .lastIndexOf(
      '',
      body.findLastIndex((text) => text.trim() !== ''),
    );
  return body
    .slice(blank + 1)
    .filter((text) => NAME.test(text.trimEnd()))
    .map((text) => text.trimEnd());
}
