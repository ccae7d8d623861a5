import { diagnosticExtractor } from './diagnostics.ts';

/** shellcheck, hadolint, yamllint, actionlint, markdownlint, perlcritic's kin, Checkstyle, rustfmt, and annotations written to CI. */
export const linters = diagnosticExtractor(
  'linter',
  [
    '.yml:',
    '.yaml:',
    '.sh line',
    'in dockerfile line',
    '.bash line',
    ' (sc',
    '[sc',
    ' dl3',
    ' dl4',
    ' md0',
    'checkstyle',
    '[error] /',
    'diff in ',
    '::error',
  ],
  [
    {
      tool: 'yamllint',
      pattern:
        /^(?<file>[\w./@-]{1,250}\.ya?ml):(?<line>\d{1,7}):(?<column>\d{1,5}): \[(?<severity>error|warning)\] (?<message>.{1,400}?)(?: \((?<code>[\w-]{1,60})\))?$/,
    },
    {
      pattern: /^(?<file>[\w./@-]{1,250}\.ya?ml):(?<line>\d{1,7}):(?<column>\d{1,5}): (?<message>.{1,400}?)(?: \[(?<code>[\w-]{1,60})\])?$/,
      weight: 78,
      belongs: (line) => /^\s{0,8}\d{0,6} ?\|/.test(line),
    },
    {
      tool: 'shellcheck',
      pattern:
        /^(?<file>[^\s:]{1,250}):(?<line>\d{1,7}):(?<column>\d{1,5}): (?<severity>error|warning|note): (?<message>.{1,400}) \[(?<code>SC\d{4})\]$/,
      severity: 'error',
      weight: 76,
    },
    {
      tool: 'shellcheck',
      pattern: /^In (?<file>(?!\S{1,100}\.php)\S{1,250}) line (?<line>\d{1,7}):(?<message>)$/,
      weight: 76,
      belongs: (line) => /\S/.test(line) && !/^In \S|^For more information/.test(line),
      messageBelow: (line) => /\^-{0,100}\^?\s(?<said>SC\d{4}.{1,400})/.exec(line)?.groups?.said ?? null,
    },
    {
      tool: 'hadolint',
      pattern:
        /^(?<file>[^\s:]{1,250}):(?<line>\d{1,7}) (?<code>(?:DL|SC)\d{4}) (?:(?<severity>error|warning|info|style): )?(?<message>.{1,400})/,
      severity: 'error',
      weight: 74,
    },
    {
      tool: 'markdownlint',
      pattern:
        /^(?<file>[^\s:]{1,250}):(?<line>\d{1,7})(?::(?<column>\d{1,5}))? (?:error )?(?<code>MD\d{3})\/\S{1,80} (?<message>.{1,400})/,
      weight: 74,
    },
    {
      pattern:
        /^\[(?:ERROR|error)\] (?<file>[^\s:]{1,300}\.\w{1,6}):(?<line>\d{1,7})(?::(?<column>\d{1,5}))?: (?<message>.{1,400}) \[(?<code>\w{1,60})\]/,
      weight: 78,
    },
    {
      pattern: /^Diff in (?<file>\S{1,250}?)[: ](?:at line )?(?<line>\d{1,7}):?(?<message>)/,
      weight: 78,
      belongs: (line) => /^[ +-]/.test(line),
    },
    { pattern: /^::error (?:file=(?<file>[^,:]{1,300}))?(?:,line=(?<line>\d{1,7}))?[^:]{0,200}::(?<message>.{1,400})/, weight: 76 },
  ],
); // prettier-ignore
