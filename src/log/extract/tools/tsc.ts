import { diagnosticExtractor } from './diagnostics.ts';

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
