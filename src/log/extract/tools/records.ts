import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';

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
