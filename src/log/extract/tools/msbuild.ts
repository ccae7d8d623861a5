import { diagnosticExtractor } from './diagnostics.ts';

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
