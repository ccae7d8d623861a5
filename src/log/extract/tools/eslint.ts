import type { Diagnostic } from '../../../domain/failure.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { diagnosticExtractor } from './diagnostics.ts';

/** Most findings kept as data. */
const MAX_KEPT = 200;

/** ESLint's stylish format and its kin (stylelint, standard, yamllint): findings indented below the path of their file. */
export const eslint: Extractor = {
  name: 'eslint',
  literals: ['  error  ', '  warning  ', ' problems (', ' problem (', '✖ ', 'too many warnings'],
  extract: (log, lines, found) => {
    const before = found.diagnostics.length;
    let kept = 0;
    for (const line of lines) if (readFinding(log, line, found, kept)) kept++;
    if (lines.some((line) => /^ESLint found too many warnings/.test(log.line(line)))) countWarnings(log, found, before);
  },
};

const FINDING =
  /^\s{1,12}(?<line>\d{1,7}):(?<column>\d{1,5})\s{1,8}(?:(?<mark>[✖×⚠])\s{1,4})?(?<severity>error |warning )?\s{0,8}(?<message>\S.{0,400}?)(?:\s{2,60}(?<code>[@\w/().-]{1,80}))?$/;

function readFinding(log: LogText, line: number, found: Extraction, kept: number): boolean {
  if (kept > MAX_KEPT) return false;
  const text = log.line(line);
  const groups = FINDING.exec(text)?.groups;
  if (groups === undefined || (groups.mark === undefined && groups.severity === undefined)) {
    if (/^\s{0,2}✖ \d{1,7} problems? \(/.test(text)) found.blocks.push({ start: line, end: line, weight: 60, reason: 'eslint summary' });
    return false;
  }
  const severity = groups.severity === 'warning ' || groups.mark === '⚠' ? 'warning' : 'error';
  const file = fileAbove(log, line);
  const tool = toolOf(groups.severity, groups.code);
  found.diagnostics.push({
    tool,
    severity,
    file: file === 0 ? null : log.line(file).trim(),
    line: Number(groups.line),
    column: Number(groups.column),
    code: groups.code?.replace(/^\(|\)$/g, '') ?? null,
    message: groups.message ?? '',
    at: { source: log.name, line },
  });
  const weight = severity === 'warning' ? 12 : 78 - Math.min(kept, 40) * 0.2;
  found.blocks.push({ start: line, end: line, weight, reason: `${tool} ${severity}` });
  if (file !== 0 && weight > 12) found.blocks.push({ start: file, end: file, weight, reason: `${tool} file` });
  return true;
}

/** stylelint writes no word for what is an error, and yamllint puts its rule in brackets. */
function toolOf(severity: string | undefined, code: string | undefined): string {
  if (severity === undefined) return 'stylelint';
  return code?.startsWith('(') === true ? 'yamllint' : 'eslint';
}

/** With `--max-warnings` too many warnings are the error. */
function countWarnings(log: LogText, found: Extraction, from: number): void {
  for (let i = from; i < found.diagnostics.length; i++) {
    const one: Diagnostic | undefined = found.diagnostics[i];
    if (one?.tool !== 'eslint' || one.severity !== 'warning' || one.at === null || one.at.source !== log.name) continue;
    found.diagnostics[i] = { ...one, severity: 'error' };
    found.blocks.push({ start: one.at.line, end: one.at.line, weight: 70, reason: 'eslint warning that counts' });
  }
}

function fileAbove(log: LogText, line: number): number {
  for (let at = line - 1; at >= Math.max(1, line - 200); at--) {
    const text = log.line(at);
    if (/^\S.{0,300}\.\w{1,6}$/.test(text)) return at;
    if (text === '' || !/^\s/.test(text)) return 0;
  }
  return 0;
}

/** ESLint's formats with one line a finding: compact and unix; Biome's and Prettier's accounts. */
export const jsLinters = diagnosticExtractor(
  'eslint',
  [
    ', error - ',
    ', warning - ',
    ' [error/',
    ' [warning/',
    ' lint/',
    ' format ━',
    ' organizeimports ━',
    ' assist/',
    'code style issues',
    '[warn] ',
    '[error] ',
  ],
  [
    {
      pattern:
        /^(?<file>[^\s:]{1,300}): line (?<line>\d{1,7}), col (?<column>\d{1,5}), (?<severity>Error|Warning) - (?<message>.{1,400}?)(?: \((?<code>[@\w/-]{1,80})\))?$/,
    },
    {
      pattern:
        /^(?<file>[^\s:]{1,300}):(?<line>\d{1,7}):(?<column>\d{1,5}): (?<message>.{1,400}) \[(?<severity>Error|Warning)\/(?<code>[@\w/-]{1,80})\]$/,
    },
    {
      tool: 'biome',
      pattern:
        /^(?<file>[^\s:]{1,300})(?::(?<line>\d{1,7}):(?<column>\d{1,5}))? (?<code>(?:lint|assist)\/[\w/]{1,80}|format|organizeImports|parse)(?: {1,3}FIXABLE)? {1,3}━{3,200}(?<message>)$/,
      belongs: (line) => line === '' || /^\s{1,200}\S/.test(line),
      messageBelow: (line) => /^\s{1,4}[×✖!] (?<said>\S.{0,400})/.exec(line)?.groups?.said ?? null,
    },
    {
      tool: 'prettier',
      pattern: /^(?:\[warn\]|\[error\]) (?<message>(?:Code style issues|[^\s:]{1,300}\.\w{1,6}(?:: SyntaxError.{0,300})?$).{0,200})/,
      weight: 70,
    },
  ],
); // prettier-ignore
