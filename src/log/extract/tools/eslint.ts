import type { LogText } from '../../lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';

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
