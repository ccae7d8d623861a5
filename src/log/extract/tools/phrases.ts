import type { LogText } from '../../lines/lines.ts';
import { roleOf } from '../../roles.ts';
import { blockEnd, type Extraction, type Extractor } from '../extraction.ts';
import { UNKNOWN_TOOL } from './any-tool.ts';
import { addFinding, isFile, isTaken, numberOf, type Placed, putRepeatsLast, readHead } from './place.ts';
import { nameTool } from './tool-names.ts';

interface Phrase {
  readonly pattern: RegExp;
  readonly weight: number;
  readonly reason: string;
}

/** Names of options, fields and files that hold the word. */
const ONLY_A_NAME = /-Werror|error_?log|on_?error|errors?\.(?:js|ts|py|go|rb|java|c|h|o|rs|class|html)\b/i;

const PHRASES: readonly Phrase[] = [
  {
    pattern: /\b(?:fatal error|FATAL|panic(?:ked)?\b|Segmentation fault|core dumped|heap out of memory)/,
    weight: 62,
    reason: 'fatal error',
  },
  { pattern: /^##\[error\]|^\[error\]|^::error/i, weight: 58, reason: 'error reported to CI' },
  { pattern: /^(?:\S{1,80}: )?(?:error|fatal|ERROR|FATAL|Error)(?:\[\w{1,12}\])?: \S/, weight: 56, reason: 'error line' },
  { pattern: /\b(?:Exception|Error)\b(?::|$)/, weight: 48, reason: 'exception' },
  {
    pattern:
      /command not found|No such file or directory|[Pp]ermission denied|No space left on device|Connection refused|Could not resolve host|Connection (?:timed out|reset)|\b(?:ECONN|ETIMEDOUT|ENOTFOUND|ENOENT|EACCES)\w*|Killed\b|cannot find|[Cc]ould not (?:find|resolve|read|open|connect|transfer)|undefined (?:reference|symbol)/,
    weight: 48,
    reason: 'failure message',
  },
  { pattern: /\b(?:FAILED|FAILURE|FAIL|failed|failure)\b/, weight: 40, reason: 'failure line' },
  {
    pattern:
      /[Cc]ould not be|[Cc]annot |[Cc]an't |[Uu]nable to |unrecognized|not (?:found|defined|provided|supported)|[Ii]nvalid|[Mm]issing|timed out|[Nn]o (?:module|matching|such|package|space|rule|provider|candidate|usable|suitable)\b|conflicts? with|running out of|is required|[Pp]lease specify|[Dd]enied|[Rr]efused|[Aa]bort/,
    weight: 38,
    reason: 'complaint',
  },
  { pattern: /\b(?:error|ERROR)\b/, weight: 34, reason: 'error line' },
];

/** What a notice weighs that holds a phrase, and what an ending does as a message. */
const [NOTICE, ENDING] = [16, 8];

/** Error lines that no tool's own reader knows: the net under all others. */
export const phrases: Extractor = {
  name: 'generic',
  literals: [
    ...['error', 'fatal', 'fail', 'exception', 'panic', 'segmentation fault', 'core dumped', 'out of memory', 'not found'],
    ...['no such file', 'permission denied', 'no space left', 'connection', 'could not', 'cannot', "can't", 'unable to'],
    ...['killed', 'abort', 'econn', 'etimedout', 'enotfound', 'enoent', 'eacces', 'unrecognized', 'no module', 'no matching'],
    ...['no such', 'no package', 'no space', 'no rule', 'no provider', 'no candidate', 'no usable', 'no suitable', 'conflict'],
    ...['running out', 'is required', 'please specify', 'undefined', 'timed out', 'denied', 'refused', 'invalid', 'missing'],
  ],
  extract: (log, lines, found) => {
    for (const line of lines) readLinePhrase(log, line, found);
  },
};

function readLinePhrase(log: LogText, line: number, found: Extraction): void {
  const text = log.line(line);
  const role = roleOf(text);
  if (role === 'blank' || role === 'passing' || role === 'echo' || ONLY_A_NAME.test(text)) return;
  const phrase = PHRASES.find(({ pattern }) => pattern.test(text));
  if (phrase === undefined) return;
  const isQuiet = role === 'notice' || role === 'progress';
  const weight = isQuiet ? NOTICE : phrase.weight;
  found.blocks.push({ start: line, end: line, weight, reason: isQuiet ? 'warning' : phrase.reason, loose: true });
  if (role === 'wrapper') return;
  found.messages.push({ text: text.trim().slice(0, 500), at: { source: log.name, line }, weight: role === 'ending' ? ENDING : weight });
}

/** PowerShell's error records, Erlang's Common Test reports, and differences that a formatting check printed. */
export const records: Extractor = {
  name: 'records',
  literals: [
    ' char:',
    'FullyQualifiedErrorId',
    'diff --git ',
    'Reason: ',
    'FAILED ON',
    '--- expected',
    '+++ actual',
    '--- Expected',
    '-- Expected',
  ],
  extract: (log, lines, found) => {
    let end = 0;
    for (const line of lines) {
      const text = log.line(line);
      if (line <= end) continue;
      if (/^At \S.{0,300}:\d{1,6} char:\d{1,5}/.test(text)) end = powershell(log, line, found);
      else if (/^diff --git a\//.test(text)) end = difference(log, line, found);
      else if (/^\s{0,8}Reason: \S/.test(text))
        found.blocks.push({ start: Math.max(1, line - 1), end: line, weight: 62, reason: 'reason given', loose: true });
    }
  },
};

function powershell(log: LogText, line: number, found: Extraction): number {
  let end = line;
  while (end < Math.min(log.lineCount, line + 12) && /^\+|^\s{0,4}$/.test(log.line(end + 1).trimStart())) end++;
  let start = line;
  while (start > Math.max(1, line - 3) && log.line(start - 1).trim() === '') start--;
  found.blocks.push({ start: Math.max(1, start - 1), end, weight: 86, reason: 'PowerShell error' });
  const text = log.line(Math.max(1, start - 1)).trim();
  if (text !== '') found.messages.push({ text: text.slice(0, 500), at: { source: log.name, line: Math.max(1, start - 1) }, weight: 74 });
  return end;
}

function difference(log: LogText, line: number, found: Extraction): number {
  let end = line;
  while (
    end < Math.min(log.lineCount, line + 120) &&
    /^(?:[ +\-@\\]|diff --git|index |new file|deleted file|similarity|rename )|^$/.test(log.line(end + 1))
  )
    end++;
  found.blocks.push(
    { start: line, end, weight: 60, reason: 'difference shown' },
    { start: line, end: Math.min(end, line + 25), weight: 66, reason: 'difference shown' },
  );
  return end;
}

/** `  3:5  error  message  rule` below the name of a file: ESLint, stylelint, yamllint, and all who list their findings so. */
export const listings: Extractor = {
  name: 'places',
  literals: ['  error', ': error', '  warning', '✖', '×', ' problem', 'too many warnings', '  Line   ', 'FILE: '],
  extract: (log, lines, found) => {
    const before = found.diagnostics.length;
    for (const line of lines) if (!isTaken(found, line)) readLineListing(log, line, found);
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

function readLineListing(log: LogText, line: number, found: Extraction): void {
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
