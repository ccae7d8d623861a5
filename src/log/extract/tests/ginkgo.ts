import type { LogText } from '../../lines/lines.ts';
import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import type { TestList } from './test-list.ts';
import { linesBetween, openTestList } from './test-list.ts';

const LISTED = /^\s{0,4}\[(?:FAIL|Fail|PANICKED!|Panic!|TIMEDOUT)\] (?<name>\S.{0,400})$/;
const PLACE = /^\s{0,4}(?<file>[^\s:]{1,300}\.go):(?<line>\d{1,7})$/;
const NODE =
  /\s?\[(?:It|BeforeEach|AfterEach|JustBeforeEach|BeforeSuite|AfterSuite|BeforeAll|AfterAll|DeferCleanup[^\]\n]{0,40}|Measurement)\]\s?/;

/** Ginkgo: the summary's `[FAIL] Cart [It] adds up`, with its place below, and what was said where it ran. */
export const ginkgo: Extractor = {
  name: 'ginkgo',
  literals: ['[FAIL] ', '[PANICKED!] ', '[Panic!] ', '[TIMEDOUT] ', '[FAILED] ['],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'ginkgo');
    for (const line of lines) {
      const text = log.line(line).trimEnd();
      const title = LISTED.exec(text)?.groups?.name;
      if (title !== undefined && NODE.test(title)) {
        const place = PLACE.exec(log.line(line + 1).trimEnd())?.groups;
        const at = { file: place?.file ?? null, line: place?.line === undefined ? null : Number(place.line) };
        list.add({ name: plain(title), message: null, ...at }, line, line);
      } else if (/^\W{0,4}\[FAILED\] \[\d/.test(text)) readDetail(log, line, list);
    }
  },
};

function readDetail(log: LogText, line: number, list: TestList): void {
  const title = log.line(line + 1).trim();
  if (!NODE.test(title)) return;
  const end = blockEnd(log, line, 60, (text) => !/^-{10,}$|^Summarizing /.test(text.trim()));
  const body = linesBetween(log, line + 2, end).map((text) => text.trim());
  const start = body.findIndex((text) => text.startsWith('[FAILED] '));
  const said = start === -1 ? [] : [body[start]?.slice(9) ?? '', ...body.slice(start + 1, start + 4)];
  const value = (index: number) => /^<[^>\n]{1,80}>: (.{1,300})$/.exec(said[index] ?? '')?.[1] ?? null;
  list.add({ name: plain(title), message: said.join(' ').trim() || null, actual: value(1), expected: value(3) }, line + 1, end);
}

function plain(title: string): string {
  return title
    .replace(NODE, ' ')
    .replace(/\s\[[\w:, -]{1,200}\]$/, '')
    .trim();
}
