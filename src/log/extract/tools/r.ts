import { diagnosticExtractor } from './diagnostics.ts';

/** R: scripts, R CMD INSTALL and R CMD check. */
export const r = diagnosticExtractor(
  'r',
  [
    'error in ',
    ' ... error',
    'error: dependency',
    'error: dependencies',
    'error: compilation failed',
    'error: lazy loading',
    'error: package or namespace',
    'is not available for',
    'there is no package',
  ],
  [
    {
      pattern: /^\* (?<message>checking .{1,200} \.\.\.(?: \[[^\]]{1,40}\])? ERROR)$/,
      weight: 76,
      belongs: (line) => !/^\* /.test(line),
      telling: /^\s{0,8}Error(?: in |:)|^ERROR/,
    },
    {
      pattern: /^\s{0,4}(?<message>Error in .{1,200} : ?.{0,300})$/,
      weight: 76,
      belongs: (line) => /^\s{1,20}\S|^Calls: |^Execution halted/.test(line),
    },
    {
      pattern: /^ERROR: (?<message>(?:dependenc(?:y|ies)|compilation failed|lazy loading failed|package or namespace).{1,300})/,
      weight: 76,
    },
    {
      tool: 'packages',
      pattern: /^(?:Warning message:|\s{0,4})?(?<message>package .{1,100} is not available for (?:this version of R|Bioconductor).{0,100})/,
      weight: 70,
    },
  ],
); // prettier-ignore
