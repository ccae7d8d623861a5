import { diagnosticExtractor } from './diagnostics.ts';

/** perl, cpanm, cpan and perlcritic. */
export const perl = diagnosticExtractor(
  'perl',
  [
    ' in @inc',
    '(severity: ',
    '! installing ',
    "! couldn't find module",
    '! testing ',
    '! bailing out',
    "can't locate object",
    "can't call method",
    "can't use ",
    'global symbol "',
    'undefined subroutine',
    'bareword "',
    'syntax error at',
  ],
  [
    {
      pattern:
        /^(?<message>Can't locate \S{1,200}\.pm in @INC.{0,200}?)(?: \(@INC .{0,1500})? at (?<file>\S{1,250}) line (?<line>\d{1,7})\.?$/,
      weight: 80,
      belongs: (line) => /^BEGIN failed|^Compilation failed in require/.test(line),
    },
    {
      pattern:
        /^(?<message>(?:Can't locate object method|Can't call method|Can't use (?:an undefined|string)|Global symbol ".{1,80}" requires|Undefined subroutine|Bareword ".{1,80}" not allowed|syntax error|Not an? \w{1,10} reference|Illegal division).{0,300}?) at (?<file>\S{1,250}) line (?<line>\d{1,7})(?:\.|,.{0,200})?$/,
      weight: 78,
      belongs: (line) =>
        /^(?:BEGIN failed|Compilation failed|Execution of \S{1,200} aborted|\S{1,200} had (?:too many|compilation) errors)/.test(line),
    },
    {
      tool: 'perlcritic',
      pattern: /^(?<message>.{1,300}?) at line (?<line>\d{1,7}), column (?<column>\d{1,5})\..{0,80}\(Severity: \d\)/,
      weight: 74,
    },
    {
      tool: 'cpanm',
      pattern:
        /^! (?<message>(?:Installing the dependencies failed|Couldn't find module or a distribution|Installing \S{1,200} failed|Testing \S{1,200} failed|Bailing out).{0,300})/,
      weight: 76,
    },
  ],
); // prettier-ignore
