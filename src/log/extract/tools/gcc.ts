import { diagnosticExtractor } from './diagnostics.ts';

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
