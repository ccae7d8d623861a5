import { diagnosticExtractor } from './diagnostics.ts';

/** Microsoft's compilers, linker, msbuild and NuGet: `a.cs(3,5): error CS1002: …`, `a.obj : error LNK2019: …`. */
export const msbuild = diagnosticExtractor(
  'msbuild',
  ['): error ', '): warning ', ' : error ', ': fatal error', 'error nu', 'error msb', 'error netsdk', 'error lnk', 'command line error d'],
  [
    {
      tool: 'msvc',
      pattern:
        /^\s{0,20}(?:\d{1,4}>)?(?<file>[^\n()]{1,300})\((?<line>\d{1,7})(?:,(?<column>\d{1,6}))?\)\s?: (?:fatal )?(?<severity>error|warning) (?<code>C\d{4}): (?<message>.{1,500})/,
    },
    {
      tool: 'msvc',
      pattern:
        /^\s{0,20}(?:\d{1,4}>)?(?<file>[^\s:()]{1,300})(?:\([^()\n]{1,200}\))?\s?: (?:fatal )?(?<severity>error|warning) (?<code>LNK\d{4}): (?<message>.{1,500})/,
      weight: 80,
    },
    { tool: 'msvc', pattern: /^\s{0,20}cl ?: Command line error (?<code>D\d{4}) ?: (?<message>.{1,300})/ },
    {
      tool: 'nuget',
      pattern:
        /^\s{0,20}(?<file>[^\n:]{1,300}?)\s?(?:\(\d{1,6},\d{1,6}\))?\s?: (?<severity>error|warning) (?<code>NU\d{4}): (?<message>.{1,500})/,
      belongs: (line) => /^\s{1,8}- /.test(line),
    },
    {
      pattern:
        /^\s{0,20}(?:\d{1,4}>)?(?<file>[^\n()]{1,300})\((?<line>\d{1,7})(?:,(?<column>\d{1,6}))?(?:,\d{1,6},\d{1,6})?\)\s?: (?:fatal )?(?<severity>error|warning) (?<code>(?!TS\d)[A-Z]{1,8}\d{1,6}): (?<message>.{1,500})/,
    },
    {
      pattern:
        /^\s{0,20}(?<file>\S{1,300})\s?: (?:fatal )?(?<severity>error|warning) (?<code>(?:MSB|NETSDK|CS|FS|BC|AD|CA|IDE)\d{2,6}): (?<message>.{1,500})/,
    },
  ],
); // prettier-ignore
