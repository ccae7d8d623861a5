import { diagnosticExtractor } from './diagnostics.ts';

/** pip and setuptools. */
export const pip = diagnosticExtractor(
  'pip',
  [
    'no matching distribution',
    'could not find a version',
    'resolutionimpossible',
    'error: could not',
    'error: cannot install',
    'error: cannot uninstall',
    'error: failed building',
    'error: failed to build',
    'error: command errored',
    'error: package ',
    'error: invalid requirement',
    'error: these packages',
    'error: hash',
    "error: pip's dependency",
    'error: exception',
    'error: ignored',
    'requires a different python',
    'did not run successfully',
    'externally-managed-environment',
    "error: command '",
    'error: microsoft visual c++',
    'error: invalid command',
    "error: can't find rust",
  ],
  [
    {
      pattern:
        /^\s{0,8}ERROR: (?<message>(?:Could not|No matching|Cannot (?:un)?install|ResolutionImpossible|Failed (?:building|to build)|Command errored|Package .{1,100} requires|Invalid requirement|THESE PACKAGES|Hash|pip's dependency|Could not build|Exception|Ignored).{0,400})/,
      weight: 80,
      belongs: (line) => /^\s{2,20}\S|^$|^The conflict|^ERROR: |^To fix|^\d\. /.test(line) && line.length < 500,
    },
    {
      pattern:
        /^\s{0,8}(?<message>(?:Could not find a version that satisfies|No matching distribution found for|× .{1,80} did not run successfully|error: externally-managed-environment).{0,400})/,
      weight: 78,
      belongs: (line) => /^\s{1,20}\S|^$/.test(line),
    },
    {
      tool: 'setuptools',
      pattern:
        /^\s{0,8}error: (?<message>(?:command '.{1,200}' failed|Microsoft Visual C\+\+|invalid command '|can't find Rust compiler).{0,300})/,
      weight: 78,
    },
  ],
); // prettier-ignore

/** Poetry. */
export const poetry = diagnosticExtractor(
  'poetry',
  ['solverproblemerror', 'version solving failed', 'depends on ', 'which doesn', 'pyproject.toml changed significantly', 'poetry.lock'],
  [
    {
      pattern: /^\s{0,8}(?<message>SolverProblemError)$/,
      weight: 78,
      belongs: (line) => /^\s{1,20}\S|^$|^(?:So,|And|Because|version solving)/.test(line),
      messageBelow: (line) => /^\s{0,8}(?<said>Because .{1,400})/.exec(line)?.groups?.said ?? null,
    },
    {
      pattern: /^\s{0,8}(?<message>Because .{1,200} depends on .{0,300})/,
      weight: 78,
      belongs: (line) => /^\s{1,20}\S|^$|^(?:So,|And|Because|version solving)/.test(line),
    },
    {
      pattern:
        /^(?:Error: )?(?<message>(?:pyproject\.toml changed significantly since poetry\.lock|poetry\.lock is not (?:up to date|consistent)).{0,200})/,
      weight: 80,
    },
  ],
); // prettier-ignore

/** uv: its errors are boxes of branches below a cross. */
export const uv = diagnosticExtractor(
  'uv',
  ['no solution found', 'failed to build', 'we can conclude', 'error: failed to ', 'the lockfile at `uv.lock`', 'no `pyproject.toml`'],
  [
    {
      pattern: /^\s{0,8}(?:× |x )(?<message>(?:No solution found|Failed to (?:build|download|fetch|resolve)).{0,400})/,
      weight: 79,
      belongs: (line) => /^\s{1,20}\S/.test(line),
      messageBelow: (line) => /^\s{1,8}[╰╭├]─▶ (?<said>.{1,400})/.exec(line)?.groups?.said ?? null,
    },
    {
      pattern:
        /^error: (?<message>(?:Failed to (?:fetch|download|build|prepare|parse|spawn|install|resolve)|The lockfile at `uv\.lock`|No `pyproject\.toml`).{0,400})/i,
      weight: 79,
      belongs: (line) => /^\s{1,8}(?:Caused by: |╰|├|\S)/.test(line),
    },
  ],
); // prettier-ignore

/** conda and mamba. */
export const conda = diagnosticExtractor(
  'conda',
  [
    'packagesnotfounderror',
    'unsatisfiableerror',
    'resolvepackagenotfound',
    'condahttperror',
    'condaerror',
    'could not solve for environment',
    'condavalueerror',
    'nothing provides',
  ],
  [
    {
      pattern:
        /^(?<code>PackagesNotFoundError|(?:LibMamba)?UnsatisfiableError|ResolvePackageNotFound|Conda\w{0,20}Error): ?(?<message>.{0,400})/,
      weight: 80,
      belongs: (line) => /^\s{0,8}- \S|^$|^\s{2,20}\S|^The following|^Could not solve/.test(line),
      telling: /^\s{0,8}- \S|nothing provides/,
      messageBelow: (line) => /^\s{2,8}- (?<said>\S.{0,300})/.exec(line)?.groups?.said ?? null,
    },
    {
      pattern: /^(?:error\s{1,6}libmamba )?(?<message>Could not solve for environment specs.{0,200})/,
      weight: 79,
      belongs: (line) => /^\s{0,8}[├└│─ ]{1,12}\S|^The following|^\s{2,20}\S/.test(line),
    },
  ],
); // prettier-ignore
