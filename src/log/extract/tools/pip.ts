import { diagnosticExtractor } from './diagnostics.ts';

/** pip, Poetry, uv, conda. */
export const pip = diagnosticExtractor(
  'pip',
  ['error: ', 'no matching distribution', 'could not find a version', 'resolutionimpossible', 'solverproblemerror', 'because ', '× '],
  [
    {
      pattern:
        /^\s{0,8}ERROR: (?<message>(?:Could not|No matching|Cannot install|ResolutionImpossible|Failed building|Command errored|Package .{1,100} requires|Invalid requirement|THESE PACKAGES|Hash|pip's dependency|Could not build|Exception|Ignored).{0,400})/,
      weight: 80,
      belongs: (line) => /^\s{2,20}\S|^$|^The conflict|^ERROR: |^To fix|^\d\. /.test(line) && line.length < 500,
    },
    {
      pattern:
        /^\s{0,8}(?<message>(?:Could not find a version that satisfies|No matching distribution found for|Because .{1,200} depends on|SolverProblemError|× No solution found|× .{1,80} did not run successfully).{0,400})/,
      weight: 78,
      belongs: (line) => /^\s{1,20}\S|^$|^(?:So,|And|Because|version solving)/.test(line),
    },
  ],
); // prettier-ignore
