import { diagnosticExtractor } from './diagnostics.ts';

/** Haskell, Swift, OCaml, Elixir, PHP and others that print `file:line:column: error`. */
export const compilers = diagnosticExtractor(
  'compiler',
  ['error:', 'error ', 'parse error', 'syntax error', '.erl:', '.exs:', '.ex:', '.go:'],
  [
    {
      pattern:
        /^(?<file>[^\s:()]{1,250}\.(?:hs|lhs|swift|ml|mli|ex|exs|erl|hrl|dart|zig|nim|v|sv|vhd|d|pas|f90|jl|elm|purs|proto|fs|vala|cr|lua)):(?<line>\d{1,7})(?:[:.](?<column>\d{1,5}))?(?:-\d{1,6})?: (?<severity>error|Error|warning|Warning):?(?: \[[\w-]{1,40}\])?(?<message>.{0,500})/,
      belongs: (line) => /^\s{1,200}\S/.test(line),
    },
    { pattern: /^(?<file>[^\s:()]{1,250}\.[eh]rl):(?<line>\d{1,7})(?::\d{1,5})?: (?!Warning)(?<message>.{1,500})/ },
    {
      pattern: /^(?<file>[^\s:()]{1,250}\.(?:go)):(?<line>\d{1,7}):(?<column>\d{1,5}): (?<message>.{1,500})/,
      weight: 76,
      belongs: (line) => /^\s{1,200}\S/.test(line),
    },
    {
      pattern: /^PHP (?<message>(?:Parse|Fatal) error: .{1,400}?) in (?<file>\S{1,300}) on line (?<line>\d{1,7})/,
      belongs: (line) => /^(?:PHP )?\s{0,8}(?:#?\d{1,4}\.? |Stack trace|thrown)/.test(line),
    },
    { pattern: /^\*\* \((?<code>\w{1,60}(?:Error|Exception))\) (?<message>.{1,400})/, belongs: (line) => /^\s{1,20}\S/.test(line) },
    { pattern: /^(?<file>\S{1,250}):(?<line>\d{1,7}): (?<message>syntax error.{0,300})/, belongs: (line) => /^\s{1,200}\S/.test(line) },
  ],
); // prettier-ignore
