import type { LogText } from '../../lines/lines.ts';
import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { openTestList } from './test-list.ts';

const ITEM =
  /^\s{2}\d{1,5}\) (?<title>(?:\[[\w -]{1,60}\] › )?(?<file>[^\s:]{1,300}):(?<line>\d{1,7}):\d{1,6} › (?<name>\S.{0,400}?))[ ─]{0,200}$/;
const SUMMARY = /^\s{2}\d{1,6} (?<outcome>failed|flaky|interrupted|skipped|did not run|passed)\b/;

/** Playwright's numbered list of failures; those that the summary calls flaky passed in the end. */
export const playwright: Extractor = {
  name: 'playwright',
  literals: [' › ', ' flaky'],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'playwright');
    const flaky = new Set(
      lines.filter((line) => /^\s{2}\d{1,6} flaky$/.test(log.line(line).trimEnd())).flatMap((line) => titlesBelow(log, line)),
    );
    for (const line of lines) {
      const item = ITEM.exec(log.line(line).trimEnd())?.groups;
      if (item?.name === undefined || flaky.has(item.title ?? '')) continue;
      const end = blockEnd(log, line, 100, (text) => !ITEM.test(text.trimEnd()) && !SUMMARY.test(text) && !/^\s{4}Retry #\d/.test(text));
      list.add({ name: item.name, file: item.file ?? null, line: Number(item.line) }, line, end);
    }
  },
};

function titlesBelow(log: LogText, line: number): string[] {
  const end = blockEnd(log, line, 500, (text) => /^\s{4}\S/.test(text));
  return Array.from({ length: end - line }, (_, i) =>
    log
      .line(line + 1 + i)
      .trim()
      .replace(/[ ─]{1,200}$/, ''),
  );
}
