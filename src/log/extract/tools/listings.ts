import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { UNKNOWN_TOOL } from './any-tool.ts';
import { addFinding, isTaken, putRepeatsLast } from './findings.ts';
import type { Placed } from './place.ts';
import { isFile, numberOf, readHead } from './place.ts';
import { nameTool } from './tool-names.ts';

/** `  3:5  error  message  rule` below the name of a file: ESLint, stylelint, yamllint, and all who list their findings so. */
export const listings: Extractor = {
  name: 'places',
  literals: ['  error', ': error', '  warning', '✖', '×', ' problem', 'too many warnings', '  Line   ', 'FILE: '],
  extract: (log, lines, found) => {
    const before = found.diagnostics.length;
    for (const line of lines) if (!isTaken(found, line)) readLine(log, line, found);
    if (lines.some((line) => /^ESLint found too many warnings/.test(log.line(line)))) countWarnings(found, before);
    putRepeatsLast(found, before);
  },
};

const ROW =
  /^\s{1,12}(?:line )?(?<line>\d{1,7})(?:[:,](?<column>\d{1,6}))?(?:-\d{1,7}(?::\d{1,6})?)?(?: \||:)?\s{1,12}(?<said>\S.{0,500})$/;
const CODE = /^(?<message>.{1,400}?)\s{2,60}[([]?(?<code>[@\w/.-]{2,80})[)\]]?$/;

/** What a runner's problem matcher puts before a finding, and a workspace's package and task, as pnpm and Turborepo write them. */
const BESIDE = /^(?:##\[(?:error|warning)\]|(?:@?[\w.-]{1,60}\/)?[\w./-]{1,80}(?: |:)[\w:-]{1,40}: )/;

/** A line as the tool printed it. */
function toolLine(log: LogText, line: number): string {
  return log.line(line).replace(BESIDE, '');
}

function readLine(log: LogText, line: number, found: Extraction): void {
  const text = toolLine(log, line);
  if (/^\s{0,2}✖ \d{1,7} problems? \(/.test(text)) found.blocks.push({ start: line, end: line, weight: 60, reason: 'summary of findings' });
  const headed = /^\s{1,4}Line\s{2,8}(?<stan>\S{1,250}\.\w{1,6})|^FILE: (?<sniff>\S{1,300})$/.exec(text)?.groups;
  if (headed !== undefined) readTable(log, line, headed.stan ?? headed.sniff ?? '', headed.stan === undefined ? 'phpcs' : 'phpstan', found);
  const row = readRow(text);
  if (row === null || row.severity === null || row.severity === 'none') return;
  const at = fileAbove(log, line);
  const placed: Placed = { ...row, file: at === 0 ? '' : fileOf(toolLine(log, at)) };
  const name = nameTool(placed, text, found.leftOut);
  const { file, line: own, column, code, message, severity } = placed;
  if (at === 0 && column === null) return;
  const tool = name?.tool ?? UNKNOWN_TOOL;
  const bracketed = code ?? name?.says?.exec(text)?.groups?.code ?? null;
  addFinding(
    log,
    { tool, severity: row.severity, file: file || null, line: own, column, code: bracketed, message, start: line, end: line, weight: 78 },
    found,
  );
  if (name !== null) found.toolchains.add(tool);
  if (at !== 0 && severity === 'error') found.blocks.push({ start: at, end: at, weight: 76, reason: `${tool} file` });
}

function readRow(text: string): Omit<Placed, 'file'> | null {
  const groups = ROW.exec(text)?.groups;
  if (groups === undefined) return null;
  const { severity, code, message } = readHead(
    (groups.said ?? '').replace(/^\|?\s?(ERROR|WARNING)\s{0,4}\|\s/, '$1: ').replace(/^(error|warning)\s{1,4}(?=\S)/, '$1: '),
  );
  const coded = code === null ? CODE.exec(message)?.groups : undefined;
  const place = { line: numberOf(groups.line), column: numberOf(groups.column) };
  return { ...place, severity, code: code ?? coded?.code ?? null, message: coded?.message ?? message };
}

/** PHPStan's and PHP_CodeSniffer's tables: the file stands above its rows, and the rows of the first bear no severity. */
function readTable(log: LogText, line: number, file: string, tool: string, found: Extraction): void {
  if (found.leftOut.has(tool)) return;
  const end = blockEnd(log, line, 60, (one) => /^[\s-]/.test(one) && one.trim() !== '' && !/^\s{1,4}Line\s/.test(one));
  for (let at = line + 1; at <= end; at++) {
    const row = readRow(log.line(at));
    if (row === null) continue;
    const severity = row.severity === 'warning' ? 'warning' : 'error';
    addFinding(log, { ...row, tool, severity, file, start: at, end: at, weight: 76 }, found);
  }
  found.blocks.push({ start: line, end, weight: 76, reason: `${tool} findings` });
  found.toolchains.add(tool);
}

/** With `--max-warnings` too many warnings are the error. */
function countWarnings(found: Extraction, from: number): void {
  for (const [at, one] of found.diagnostics.entries()) {
    if (at < from || one.tool !== 'eslint' || one.severity !== 'warning' || one.at === null) continue;
    found.diagnostics[at] = { ...one, severity: 'error' };
    found.blocks.push({ start: one.at.line, end: one.at.line, weight: 70, reason: 'eslint warning that counts' });
  }
}

/** The line above that names the file of an indented row; 0 where there is none. */
function fileAbove(log: LogText, line: number): number {
  const indent = toolLine(log, line).search(/\S/);
  for (let at = line - 1; at >= Math.max(1, line - 200); at--) {
    const text = toolLine(log, at);
    if (text === '') return 0;
    if (text.search(/\S/) < indent && isFile(fileOf(text))) return at;
    if (!/^\s/.test(text)) return 0;
  }
  return 0;
}

function fileOf(text: string): string {
  return /^\s{0,8}(?:[-=#>•] ?|File:? |in )?(?<file>\S.{0,300}?)(?: \(\d{1,6}\)|:)?\s{0,4}$/.exec(text)?.groups?.file ?? '';
}
