import type { LogText } from '../lines.ts';
import { diagnosticExtractor } from './diagnostics.ts';
import type { Extraction, Extractor } from './extraction.ts';

/** ESLint's stylish format and its kin (stylelint, standard): findings indented below the path of their file. */
export const eslint: Extractor = {
  name: 'eslint',
  literals: ['  error  ', '  warning  ', ' problems (', ' problem (', '✖ '],
  extract: (log, lines, found) => {
    let kept = 0;
    for (const line of lines) if (readFinding(log, line, found, kept)) kept++;
  },
};

const FINDING =
  /^\s{1,12}(?<line>\d{1,7}):(?<column>\d{1,5})\s{1,8}(?:✖\s{1,4})?(?<severity>error|warning)\s{1,8}(?<message>.{1,400}?)(?:\s{2,60}(?<code>[@\w/-]{1,80}))?$/;

function readFinding(log: LogText, line: number, found: Extraction, kept: number): boolean {
  if (kept > 200) return false;
  const text = log.line(line);
  const groups = FINDING.exec(text)?.groups;
  if (groups === undefined) {
    if (/^\s{0,2}✖ \d{1,7} problems? \(/.test(text)) found.blocks.push({ start: line, end: line, weight: 60, reason: 'eslint summary' });
    return false;
  }
  const file = fileAbove(log, line);
  found.diagnostics.push({
    tool: 'eslint',
    severity: groups.severity === 'warning' ? 'warning' : 'error',
    file: file === 0 ? null : log.line(file).trim(),
    line: Number(groups.line),
    column: Number(groups.column),
    code: groups.code ?? null,
    message: groups.message ?? '',
    at: { source: log.name, line },
  });
  const weight = groups.severity === 'warning' ? 12 : 78 - Math.min(kept, 40) * 0.2;
  found.blocks.push({ start: line, end: line, weight, reason: `eslint ${groups.severity}` });
  if (file !== 0 && weight > 12) found.blocks.push({ start: file, end: file, weight, reason: 'eslint file' });
  return true;
}

function fileAbove(log: LogText, line: number): number {
  for (let at = line - 1; at >= Math.max(1, line - 200); at--) {
    const text = log.line(at);
    if (/^\S.{0,300}\.\w{1,6}$/.test(text)) return at;
    if (text === '' || !/^\s/.test(text)) return 0;
  }
  return 0;
}

const shown = (line: string) => /^\s{1,200}\S|^$/.test(line) && line.length < 300;

/** Linters and formatters with one finding a line, and those that name the files they would change. */
export const linters = diagnosticExtractor(
  'linter',
  [
    'would reformat',
    'code style issues',
    '[warn] ',
    '[error] ',
    '.py:',
    '.yml:',
    '.yaml:',
    '.rb:',
    ': c0',
    ': e1',
    'error - ',
    'lint',
    'checkstyle',
    'offense',
    '.sh line',
    'line ',
    '.go:',
    'not formatted',
    'diff in ',
    '::error',
    'would be reformatted',
    '(severity:',
  ],
  [
    {
      pattern: /^(?<file>[\w./@-]{1,250}\.ya?ml):(?<line>\d{1,7}):(?<column>\d{1,5}): (?<message>.{1,400}?)(?: \[(?<code>[\w-]{1,60})\])?$/,
      weight: 78,
      belongs: (line) => /^\s{0,8}\d{0,6} ?\|/.test(line),
    },
    {
      pattern:
        /^(?:##\[error\])?(?<file>[\w./@-]{1,250}\.pyi?):(?<line>\d{1,7}):(?:(?<column>\d{1,5}):)? (?:\[?(?<code>[A-Z]{1,4}\d{2,5})\]?:?) (?<message>.{1,400})/,
      weight: 76,
    },
    {
      pattern:
        /^(?<file>[\w./@-]{1,250}\.pyi?):(?<line>\d{1,7}): (?<severity>error): (?<message>.{1,400}?)(?:\s{2}\[(?<code>[\w-]{1,60})\])?$/,
      weight: 78,
    },
    { pattern: /^would reformat (?<file>.{1,300})(?<message>)/, weight: 76 },
    {
      pattern: /^(?:\[warn\]|\[error\]) (?<message>(?:Code style issues|[^\s:]{1,300}\.\w{1,6}(?:: SyntaxError.{0,300})?$).{0,200})/,
      weight: 70,
    },
    {
      pattern: /^(?<file>[\w./@-]{1,250}\.rb):(?<line>\d{1,7}):(?<column>\d{1,5}): (?<code>[CWEFR]): (?<message>.{1,400})/,
      weight: 76,
      belongs: shown,
    },
    {
      pattern:
        /^\[(?:ERROR|error)\] (?<file>[^\s:]{1,300}\.\w{1,6}):(?<line>\d{1,7})(?::(?<column>\d{1,5}))?: (?<message>.{1,400}) \[(?<code>\w{1,60})\]/,
      weight: 78,
    },
    {
      pattern: /^In (?<file>\S{1,250}) line (?<line>\d{1,7}):(?<message>)$/,
      weight: 74,
      belongs: (line) => /\S/.test(line) && !/^In \S/.test(line),
    },
    {
      pattern: /^Diff in (?<file>\S{1,250}?)[: ](?:at line )?(?<line>\d{1,7}):?(?<message>)/,
      weight: 78,
      belongs: (line) => /^[ +-]/.test(line),
    },
    { pattern: /^(?<message>.{1,300}?) at line (?<line>\d{1,7}), column (?<column>\d{1,5})\..{0,80}\(Severity: \d\)/, weight: 74 },
    { pattern: /^::error (?:file=(?<file>[^,:]{1,300}))?(?:,line=(?<line>\d{1,7}))?[^:]{0,200}::(?<message>.{1,400})/, weight: 76 },
  ],
); // prettier-ignore
