import { splitExpectation } from '../../expectation.ts';
import type { LogText } from '../../lines.ts';
import type { Block, Extraction, Extractor } from '../extraction.ts';
import { blockEnd, failingTest } from '../extraction.ts';

interface Kind {
  readonly framework: string;
  /** Named groups: name, suite, file, line, message. */
  readonly pattern: RegExp;
  /** The next failure or the end of the report. */
  readonly stop: RegExp;
  readonly limit: number;
}

const KINDS: readonly Kind[] = [
  { framework: 'rspec', pattern: /^rspec (?<file>[^\s:]{1,300}\.rb):(?<line>\d{1,6}) # (?<name>.{1,400})$/, stop: /^/, limit: 0 },
  {
    framework: 'minitest',
    pattern: /^\s{0,4}\d{1,5}\) (?:Failure|Error):$/,
    stop: /^\s{0,4}\d{1,5}\) (?:Failure|Error):$|^\d{1,7} (?:runs|tests),|^\s{0,2}$/,
    limit: 25,
  },
  {
    framework: 'phpunit',
    pattern: /^\d{1,5}\) (?<suite>[\w\\]{3,300})::(?<name>\w{1,200}(?: with data set .{1,200})?)(?: \(.{1,300}\))?$/,
    stop: /^\d{1,5}\) [\w\\]|^(?:FAILURES!|ERRORS!|WARNINGS!|--$|Tests: )/,
    limit: 60,
  },
  {
    framework: 'gtest',
    pattern: /^\[ {2}FAILED {2}\] (?<suite>[\w/]{1,200})\.(?<name>[\w/]{1,200})(?:, where .{1,300})?(?: \(\d{1,9} ms\))?$/,
    stop: /^/,
    limit: 0,
  },
  {
    framework: 'ctest',
    pattern: /^\s{0,4}\d{1,5}\/\d{1,5} Test {1,4}#\d{1,5}: (?<name>\S{1,200}) \.{2,80}\*{3}(?:Failed|Timeout|Exception|Not Run)/,
    stop: /^/,
    limit: 0,
  },
  {
    framework: 'dotnet',
    pattern:
      /^\s{0,4}(?:X |Failed |\[xUnit\.net [\d:.]{1,20}\]\s{1,8})(?<name>[\w.<>]{2,300}(?:\(.{0,200}\))?)(?: \[(?:FAIL|[<\d].{0,20})\])$/,
    stop: /^\s{0,4}(?:Passed|Failed|X|Skipped) \S|^(?:Total tests|Test Run|Failed!)/,
    limit: 40,
  },
  { framework: 'dotnet', pattern: /^\d{1,5}\) (?:Failed|Error) : (?<name>.{1,300})$/, stop: /^\d{1,5}\) |^\s{0,2}$/, limit: 40 },
  {
    framework: 'exunit',
    pattern: /^\s{2}\d{1,5}\) (?<name>(?:test|doctest|property) .{1,300}) \((?<suite>[\w.]{1,200})\)$/,
    stop: /^\s{2}\d{1,5}\) |^Finished in|^\.{1,200}$/,
    limit: 40,
  },
  {
    framework: 'hspec',
    pattern: /^\s{2}(?<file>[^\s:]{1,300}\.hs):(?<line>\d{1,6}):\d{1,5}:\s{0,4}(?<name>)$/,
    stop: /^\s{2}\S{1,300}\.hs:\d|^\s{2}To rerun|^Randomized/,
    limit: 30,
  },
  { framework: 'php-run-tests', pattern: /^FAIL (?<name>.{1,300}) \[(?<file>\S{1,300}\.phpt)\]/, stop: /^/, limit: 0 },
  {
    framework: 'scalatest',
    pattern: /^(?:\[info\] )\s{0,12}- (?<name>.{1,300}) \*\*\* FAILED \*\*\*/,
    stop: /^\[info\]\s{0,12}- |^\[info\] \S/,
    limit: 12,
  },
  { framework: 'pester', pattern: /^\s{1,20}\[-\] (?<name>.{1,300}?) (?:[\d.,]{1,12}m?s)/, stop: /^\s{1,20}\[[+-]\]|^\S/, limit: 20 },
  {
    framework: 'xctest',
    pattern:
      /^(?<file>[^\s:]{1,300}\.(?:swift|m|mm)):(?<line>\d{1,6}): error: -?\[?(?<suite>[\w.]{1,200})[ .](?<name>\w{1,200})\]? : (?<message>.{1,400})/,
    stop: /^/,
    limit: 0,
  },
  {
    framework: 'playwright',
    pattern: /^\s{2}\d{1,5}\) (?:\[[\w -]{1,60}\] › )?(?<file>[^\s:]{1,300}):(?<line>\d{1,6}):\d{1,5} › (?<name>.{1,300}?)[ ─]{0,200}$/,
    stop: /^\s{2}\d{1,5}\) |^\s{2}\d{1,5} failed/,
    limit: 60,
  },
]; // prettier-ignore

/** Totals of PHPUnit and its kin that are not plainly good. */
const TOTALS = /^(?:OK, but |Tests: \d{1,7}, Assertions: \d{1,7}, )/;

/** Test runners whose failures can be told from one line. */
export const moreTests: Extractor = {
  name: 'tests',
  literals: [
    'rspec ./',
    'OK, but ',
    ', Assertions: ',
    'rspec spec',
    ') Failure:',
    ') Error:',
    ') failed : ',
    ') error : ',
    '::test',
    '[  FAILED  ]',
    '***Failed',
    '***Timeout',
    '***Exception',
    '***Not Run',
    '[FAIL]',
    ') test ',
    ') doctest ',
    '.hs:',
    '.phpt]',
    '*** FAILED',
    '[-] ',
    'error: -[',
    ' › ',
    '  X ',
    'Failed ',
  ],
  extract: (log, lines, found) => {
    const seen = new Set<string>();
    let end = 0;
    for (const line of lines) {
      if (line <= end) continue;
      const text = log.line(line).trimEnd();
      if (TOTALS.test(text)) found.blocks.push({ start: line, end: line, weight: 45, reason: 'test totals' });
      for (const kind of KINDS) {
        const groups = kind.pattern.exec(text)?.groups ?? (kind.pattern.test(text) ? {} : undefined);
        if (groups === undefined) continue;
        end = add(log, line, kind, groups, found, seen);
        break;
      }
    }
  },
};

function add(
  log: LogText,
  line: number,
  kind: Kind,
  groups: { [key: string]: string | undefined },
  found: Extraction,
  seen: Set<string>,
): number {
  const end = kind.limit === 0 ? line : blockEnd(log, line, kind.limit, (text) => !kind.stop.test(text));
  const named =
    groups.name ||
    log
      .line(line + 1)
      .trim()
      .replace(/^\d{1,5}\) /, '')
      .replace(/ \[.{1,300}\]:?$/, '')
      .replace(/:$/, '');
  const [suite, name] =
    kind.framework === 'minitest' && named.includes('#') ? (named.split('#') as [string, string]) : [groups.suite ?? null, named];
  const key = `${kind.framework}/${suite}/${name}`;
  const less = Math.min(seen.size, 30) * 0.4;
  found.blocks.push({ start: line, end, weight: (kind.limit === 0 ? 72 : 86) - less, reason: `${kind.framework} failure` });
  if (kind.limit > 0)
    found.blocks.push({ start: line, end: Math.min(end, line + 8), weight: 91 - less, reason: `${kind.framework} failure` });
  if (kind.framework === 'php-run-tests') found.blocks.push(diffAbove(log, line, less));
  if (seen.has(key) || name === '') return end;
  seen.add(key);
  const body = Array.from({ length: Math.min(30, end - line) }, (_, i) => log.line(line + 1 + i));
  const message = groups.message ?? body.find((text) => text.trim() !== '' && !text.includes(named))?.trim() ?? null;
  const place = { file: groups.file ?? null, line: groups.line === undefined ? null : Number(groups.line) };
  found.failingTests.push(failingTest(log, line, kind.framework, { name, suite, ...place, message, ...splitExpectation(body.join('\n')) }));
  found.toolchains.add(kind.framework);
  return end;
}

/** PHP's own test runner shows the difference above the name of the test. */
function diffAbove(log: LogText, line: number, less: number): Block {
  let start = line;
  while (start > Math.max(1, line - 150) && !log.line(start).startsWith('========DIFF')) start--;
  return {
    start: log.line(start).startsWith('========DIFF') ? start : line,
    end: line,
    weight: 88 - less,
    reason: 'php-run-tests failure',
  };
}
