import { diagnosticExtractor } from './diagnostics.ts';

const ccSource = (line: string) => /^\s{0,200}\^|^\s{1,12}\d{0,6} \||^ {1,200}\S|: note: /.test(line);
const below = (line: string) => /^>>> |^\s{1,20}\S|^ld: /.test(line);

/** gcc, clang, their linkers (ld, gold, lld, mold), and what wears their clothes: clang-tidy, clang-format, cppcheck. */
export const gcc = diagnosticExtractor(
  'gcc',
  ['error: ', ' warning: ', 'undefined reference', 'undefined symbol', ': cannot find -l', 'multiple definition of'],
  [
    {
      tool: 'clang-format',
      pattern:
        /^(?<file>[^\s:]{1,250}):(?<line>\d{1,7}):(?<column>\d{1,5}): (?:error|warning): (?<message>code should be clang-formatted) \[-W(?<code>[\w-]{1,60})\]/,
      severity: 'error',
      belongs: ccSource,
    },
    {
      tool: 'clang-tidy',
      pattern:
        /^(?<file>[^\s:]{1,250}):(?<line>\d{1,7}):(?<column>\d{1,5}): (?<severity>error|warning): (?<message>[^[]{1,400}) \[(?<code>(?:bugprone|cert|clang-analyzer|cppcoreguidelines|google|hicpp|llvm|misc|modernize|performance|portability|readability|concurrency)-[\w.-]{1,80})[^\]]{0,60}\]/,
      belongs: ccSource,
    },
    {
      pattern:
        /^(?:\[[^\]]{1,20}\] )?(?<file>(?:[A-Za-z]:)?[^\s:()|<>"']{1,250}\.(?:c|cc|cpp|cxx|c\+\+|h|hh|hpp|hxx|m|mm|cu|inc|def|s|S|ipp|tcc)):(?<line>\d{1,7})(?::(?<column>\d{1,5}))?: (?<severity>(?:fatal )?error|warning): (?<message>.{1,500})/,
      belongs: ccSource,
    },
    { pattern: /^(?<file>[^\s:]{1,250}\.(?:c|cc|cpp|o|a|text))[:(][^\n]{0,60}:? (?<message>undefined reference to .{1,300})/, weight: 80 },
    { pattern: /^(?:\S{1,120}: )?(?<file>[^\s:]{1,250}):[^:]{0,60}: (?<message>multiple definition of .{1,300})/, weight: 80 },
    {
      pattern: /^(?<message>(?:cc1|cc1plus|clang|clang\+\+): (?:all warnings being|error: linker command failed).{0,200})/,
      weight: 46,
      pointer: true,
    },
    { pattern: /^(?<message>collect2: error: ld returned.{0,100})/, weight: 74, belongs: below },
    {
      pattern:
        /^(?:\S{0,120}(?:ld|ld64|lld|lld-link|collect2|ld\.gold|ld\.lld|mold|wasm-ld|clang|clang\+\+|gcc|g\+\+|cc1plus|cc1)(?:\.exe)?): (?:fatal )?error: (?<message>.{1,500})/,
      weight: 74,
      belongs: below,
      placeBelow: /^>>> referenced by (?<file>[^\s:()]{1,250}):(?<line>\d{1,7})/,
    },
    {
      pattern:
        /^\S{0,120}\bld(?:\.\w{1,6})?: (?<message>(?:cannot find|symbol\(s\) not found|undefined|duplicate symbol|library not found|framework not found).{0,300})/,
      weight: 78,
    },
    { pattern: /^(?<message>Undefined symbols for architecture .{1,100})/, weight: 78, belongs: below },
  ],
); // prettier-ignore

/** cppcheck's own severities; its errors look like gcc's. */
export const cppcheck = diagnosticExtractor(
  'cppcheck',
  [': style: ', ': performance: ', ': portability: ', '[missingInclude', '[nullPointer', '[uninitvar', '[memleak'],
  [
    {
      pattern:
        /^(?<file>[^\s:]{1,250}):(?<line>\d{1,7}):(?<column>\d{1,5}): (?<severity>error|warning|style|performance|portability): (?<message>[^[]{1,400}) \[(?<code>\w{1,60})\]$/,
      belongs: ccSource,
    },
  ],
);
