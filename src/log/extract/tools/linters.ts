import { diagnosticExtractor } from './diagnostics.ts';

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
