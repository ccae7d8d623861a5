import { diagnosticExtractor } from './diagnostics.ts';

/** OCaml, Dart, Zig, Nim and others that print `file:line:column: error`. */
export const compilers = diagnosticExtractor(
  'compiler',
  ['error:', 'syntax error'],
  [
    {
      pattern:
        /^(?<file>[^\s:()]{1,250}\.(?:ml|mli|dart|zig|nim|v|sv|vhd|d|pas|f90|jl|elm|purs|proto|fs|vala|cr|lua)):(?<line>\d{1,7})(?:[:.](?<column>\d{1,5}))?(?:-\d{1,6})?: (?<severity>error|Error|warning|Warning):?(?: \[[\w-]{1,40}\])?(?<message>.{0,500})/,
      belongs: (line) => /^\s{1,200}\S/.test(line),
    },
    { pattern: /^(?<file>\S{1,250}):(?<line>\d{1,7}): (?<message>syntax error.{0,300})/, belongs: (line) => /^\s{1,200}\S/.test(line) },
  ],
); // prettier-ignore
