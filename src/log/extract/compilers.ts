import { diagnosticExtractor } from './diagnostics.ts';

const source = (line: string) =>
  /^\s{0,12}(?:\d{1,6})? {0,6}\||^\s{1,200}[\^~]|^\s{2,200}\S|^(?:symbol|location):/.test(line) || /: note:|^\s{1,8}note:/.test(line);
/** `   --> src/main.rs:19:34` */
const arrow = /^\s{0,12}--> (?<file>[^\s:]{1,300}):(?<line>\d{1,7}):(?<column>\d{1,6})/;
const ccSource = (line: string) => /^\s{0,200}\^|^\s{1,12}\d{0,6} \||^ {1,200}\S|: note: /.test(line);

/** gcc, clang and what wears their clothes. */
export const gcc = diagnosticExtractor(
  'gcc',
  ['error: ', ' warning: ', 'undefined reference', 'undefined symbol'],
  [
    {
      pattern:
        /^(?:\[[^\]]{1,20}\] )?(?<file>(?:[A-Za-z]:)?[^\s:()|<>"']{1,250}\.(?:c|cc|cpp|cxx|c\+\+|h|hh|hpp|hxx|m|mm|cu|inc|def|s|S|ipp|tcc)):(?<line>\d{1,7})(?::(?<column>\d{1,5}))?: (?<severity>(?:fatal )?error|warning): (?<message>.{1,500})/,
      belongs: ccSource,
    },
    { pattern: /^(?<file>[^\s:]{1,250}\.(?:c|cc|cpp|o|a|text))[:(][^\n]{0,60}:? (?<message>undefined reference to .{1,300})/, weight: 80 },
    {
      pattern:
        /^(?:\S{0,120}(?:ld|lld|lld-link|collect2|ld\.gold|clang|clang\+\+|gcc|g\+\+|cc1plus|cc1)(?:\.exe)?): (?:fatal )?error: (?<message>.{1,500})/,
      weight: 74,
    },
    {
      pattern:
        /^\S{0,120}\bld(?:\.\w{1,6})?: (?<message>(?:cannot find|symbol\(s\) not found|undefined|duplicate symbol|library not found|framework not found).{0,300})/,
      weight: 78,
    },
    { pattern: /^(?<message>Undefined symbols for architecture .{1,100})/, weight: 78, belongs: (line) => /^\s{1,20}\S|^ld: /.test(line) },
  ],
); // prettier-ignore

/** Microsoft's compilers and msbuild: `a.cs(3,5): error CS1002: …`. */
export const msbuild = diagnosticExtractor(
  'msbuild',
  ['): error ', '): warning ', ' : error ', ': fatal error', 'error nu', 'error msb'],
  [
    {
      pattern:
        /^\s{0,20}(?:\d{1,4}>)?(?<file>[^\n()]{1,300})\((?<line>\d{1,7})(?:,(?<column>\d{1,6}))?(?:,\d{1,6},\d{1,6})?\)\s?: (?:fatal )?(?<severity>error|warning) (?<code>(?!TS\d)[A-Z]{1,8}\d{1,6}): (?<message>.{1,500})/,
    },
    {
      pattern:
        /^\s{0,20}(?<file>\S{1,300})\s?: (?:fatal )?(?<severity>error|warning) (?<code>(?:NU|MSB|NETSDK|LNK|CS|C)\d{2,6}): (?<message>.{1,500})/,
    },
  ],
); // prettier-ignore

/** rustc and cargo. */
export const rustc = diagnosticExtractor(
  'rustc',
  ['error[e', 'error: ', 'error:'],
  [
    { pattern: /^error\[(?<code>E\d{4})\]: (?<message>.{1,500})/, belongs: source, placeBelow: arrow },
    {
      pattern:
        /^error: (?<message>(?:could not compile|linking with|expected|unexpected|cannot find|no matching package|failed to (?:select|run|parse|load|resolve|get|fetch|download|compile)|unused|this|mismatched|macro|cannot|unresolved|use of|missing|the lock file|test failed).{0,500})/,
      belongs: source,
      placeBelow: arrow,
      weight: 72,
    },
  ],
); // prettier-ignore

/** javac, alone, in Maven or in Gradle. */
export const javac = diagnosticExtractor(
  'javac',
  ['.java:', '.kt:', '.scala:', '.groovy:', '.kts:'],
  [
    {
      pattern:
        /^(?:\[(?:ERROR|javac|error)\]\s{0,8}){0,2}(?<file>(?:[A-Za-z]:)?[^\s:[\]]{1,300}\.(?:java|kt|groovy|scala)):\[(?<line>\d{1,7}),(?<column>\d{1,5})\] (?:error: )?(?<message>.{1,500})/,
      belongs: (line) => /^(?:\[ERROR\])?\s{1,200}\S|^symbol:|^location:/.test(line),
    },
    {
      pattern:
        /^(?:\s{0,8}\[\w{1,12}\]\s{0,8}){0,2}(?<file>(?:[A-Za-z]:)?[^\s:[\]()]{1,300}\.(?:java|kt|kts|groovy|scala)):(?<line>\d{1,7})(?::(?<column>\d{1,5}))?: (?:(?<severity>error|warning): ?)(?<message>.{1,500})/,
      belongs: (line) => /^(?:\s{0,8}\[\w{1,12}\])?\s{1,200}\S|^symbol:|^location:/.test(line),
    },
    {
      pattern:
        /^(?<severity>[ew]): (?:file:\/\/)?(?<file>[^\s:]{1,300}\.kts?):[ (]{0,2}(?<line>\d{1,7})[:, ]{1,2}(?<column>\d{1,5})\)?:? (?<message>.{1,500})/,
    },
    {
      pattern: /^\[error\] (?<file>[^\s:]{1,300}\.(?:scala|java)):(?<line>\d{1,7})(?::(?<column>\d{1,5}))?: (?<message>.{1,500})/,
      belongs: (line) => /^\[error\]\s/.test(line),
    },
  ],
); // prettier-ignore

/** TypeScript. */
export const tsc = diagnosticExtractor(
  'tsc',
  ['error ts'],
  [
    {
      pattern:
        /^\s{0,8}(?:ERROR in |\[?[Ee]rror[\]:] |##\[error\] ?){0,2}(?<file>[^\s():]{1,300})\((?<line>\d{1,7}),(?<column>\d{1,5})\)\s?(?::|-) (?<severity>error) (?<code>TS\d{1,5}): (?<message>.{1,500})/,
      belongs: (line) => /^\s{1,200}\S|^\d{1,6} /.test(line),
    },
    {
      pattern:
        /^\s{0,8}(?:ERROR in |\[?[Ee]rror[\]:] |##\[error\] ?){0,2}(?<file>[^\s():]{1,300}):(?<line>\d{1,7}):(?<column>\d{1,5})\s?(?::|-) (?<severity>error) (?<code>TS\d{1,5}): (?<message>.{1,500})/,
      belongs: (line) => /^\s{1,200}\S|^\d{1,6} /.test(line),
    },
    { pattern: /\b(?<severity>error) (?<code>TS\d{1,5}): (?<message>.{1,500})/, belongs: (line) => /^\s{1,200}\S/.test(line) },
  ],
); // prettier-ignore

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
