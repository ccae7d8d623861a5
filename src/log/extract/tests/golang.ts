import { splitExpectation } from '../../expectation.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { failingTest } from '../extraction.ts';
import { readGoPanic, readRace } from './go-traces.ts';

const FAIL = /^(?<indent>\s{0,40})--- FAIL: (?<name>\S{1,400})(?: \([\d.]{1,12}s\))?/;
const MAX_LINES = 80;

/** go test, plain and -json, and go vet's and go build's package headings. */
export const golang: Extractor = {
  name: 'go',
  literals: [
    '--- FAIL: ',
    '=== RUN   ',
    'FAIL\t',
    '"Action":"fail"',
    'panic: ',
    '[build failed]',
    '[setup failed]',
    'DATA RACE',
    'fatal error: all goroutines',
    'no required module',
    'go: ',
  ],
  extract: (log, lines, found) => {
    const seen = new Set<string>();
    const runs = new Map<string, number>();
    for (const line of lines) {
      const text = log.line(line);
      if (text.startsWith('=== RUN   ')) {
        runs.set(text.slice(10).trim(), line);
        continue;
      }
      const groups = FAIL.exec(text)?.groups;
      if (groups !== undefined) readFail(log, line, groups.name ?? '', (groups.indent ?? '').length, found, seen, runs);
      else if (text.startsWith('{')) readJson(log, line, text, found, seen);
      else readOther(log, line, text, found);
    }
    dropParents(found);
  },
};

function readFail(
  log: LogText,
  line: number,
  name: string,
  indent: number,
  found: Extraction,
  seen: Set<string>,
  runs: ReadonlyMap<string, number>,
): void {
  if (seen.has(name)) return;
  seen.add(name);
  const { start, end } = printedBy(log, line, indent, runs.get(name));
  const body = Array.from({ length: Math.min(40, end - start + 1) }, (_, i) => log.line(start + i));
  const at = body
    .map((text) => /^\s{1,40}(?<file>[\w./-]{1,200}\.go):(?<line>\d{1,6}):? ?(?<message>.{0,500})/.exec(text)?.groups)
    .find((one) => one !== undefined);
  // The runtime's own file tells nothing about the test.
  const place = at?.file === 'testing.go' ? undefined : at;
  const trace = body.map((text) => /^\s{1,40}Error:\s{1,20}(.{1,400})/.exec(text)?.[1]).find((one) => one !== undefined);
  const message = trace ?? at?.message?.trim() ?? body[1]?.trim() ?? null;
  found.failingTests.push(
    failingTest(
      log,
      start < line && place !== undefined ? start + body.findIndex((text) => text.includes(`${place.file}:${place.line}`)) : line,
      'go',
      {
        name,
        file: place?.file ?? null,
        line: place === undefined ? null : Number(place.line),
        message: message || null,
        ...splitExpectation(body.join('\n')),
      },
    ),
  );
  const less = Math.min(seen.size, 30) * 0.4;
  found.blocks.push({ start, end, weight: 86 - less, reason: 'go test failure' });
  found.blocks.push({ start, end: Math.min(end, start + 12), weight: 91 - less, reason: 'go test failure' });
}

/** What a failing test printed: below its verdict, or, with \`-v\`, below the line that said it ran. */
function printedBy(log: LogText, line: number, indent: number, run: number | undefined): { start: number; end: number } {
  const end = lastOf(log, line, indent);
  if (end > line || run === undefined) return { start: line, end };
  const printed = lastOf(log, run, 0);
  return printed > run ? { start: run, end: printed } : { start: line, end: line };
}

function lastOf(log: LogText, line: number, indent: number): number {
  let end = line;
  const last = Math.min(log.lineCount, line + MAX_LINES);
  while (end < last && belongs(log.line(end + 1), indent)) end++;
  return end;
}

function belongs(text: string, indent: number): boolean {
  if (/^\s{0,40}(?:---|===) |^(?:FAIL|PASS|ok|exit status)\b/.test(text)) return false;
  return text.startsWith(' '.repeat(indent + 1)) || text.startsWith('\t') || text.trim() === '' || /^(?:panic:|goroutine )/.test(text);
}

function readJson(log: LogText, line: number, text: string, found: Extraction, seen: Set<string>): void {
  const name = /"Test":"([^"]{1,400})"/.exec(text)?.[1];
  const suite = /"Package":"([^"]{1,400})"/.exec(text)?.[1] ?? null;
  if (name === undefined || !text.includes('"Action":"fail"') || seen.has(name)) return;
  seen.add(name);
  found.failingTests.push(failingTest(log, line, 'go', { name, suite }));
  found.blocks.push({ start: line, end: line, weight: 70, reason: 'go test failure' });
}

function readOther(log: LogText, line: number, text: string, found: Extraction): void {
  if (/^panic: |^fatal error: |^WARNING: DATA RACE/.test(text)) {
    let end = line;
    while (end < Math.min(log.lineCount, line + 40) && !/^(?:FAIL|ok|exit status|={10,})/.test(log.line(end + 1))) end++;
    found.blocks.push(
      { start: line, end, weight: 82, reason: 'go panic' },
      { start: line, end: Math.min(end, line + 10), weight: 90, reason: 'go panic' },
    );
    found.messages.push({ text: text.slice(0, 500), at: { source: log.name, line }, weight: 82 });
    if (text.startsWith('WARNING')) readRace(log, line, found);
    else readGoPanic(log, line, text, found);
  } else if (/^FAIL\t\S/.test(text)) {
    found.blocks.push({ start: line, end: line, weight: 60, reason: 'failing go package' });
  } else if (/^go: (?!downloading|finding|extracting|added|upgraded)\S/.test(text)) {
    found.blocks.push({ start: line, end: Math.min(log.lineCount, line + 2), weight: 72, reason: 'go command' });
    found.messages.push({ text: text.slice(0, 500), at: { source: log.name, line }, weight: 72 });
  }
}

/** `TestA` fails because `TestA/case` or a Ginkgo spec in it does: only the case is a failing test of its own. */
function dropParents(found: Extraction): void {
  const names = found.failingTests.filter(({ framework }) => framework === 'go').map(({ name }) => name);
  const parents = new Set(
    names.flatMap((name) =>
      name
        .split('/')
        .slice(0, -1)
        .map((_, i, parts) => parts.slice(0, i + 1).join('/')),
    ),
  );
  const bdd = found.failingTests.some(({ framework }) => framework === 'ginkgo');
  const kept = found.failingTests.filter(
    ({ framework, name, file }) => framework !== 'go' || !(parents.has(name) || (bdd && file === null && !name.includes('/'))),
  );
  found.failingTests.splice(0, found.failingTests.length, ...kept);
}
