import { diagnosticExtractor } from './diagnostics.ts';

const indented = (line: string) => /^\s{2,200}\S|^$/.test(line) && line.length < 400;

/** npm repeats its code before each line; system calls, paths and numbers are no message. */
function npmMessage(line: string): string | null {
  const said =
    /^npm (?:ERR!|error) (?!(?:errno|syscall|path|command|dest|signal|type|code) )(?:(?:E\w{2,40}|e\w{2,40}|notsup|engine|network|404|code) )?(?<said>\S.{0,500})$/.exec(
      line,
    )?.groups?.said;
  if (
    said === undefined ||
    /^(?:syscall|path|errno|command|dest|signal|While resolving|Found:|type|code|E\w{2,30}$|Unsupported engine$)/.test(said)
  )
    return null;
  return said;
}

/** CMake and autotools. */
export const cmake = diagnosticExtractor(
  'cmake',
  ['cmake error', 'configure: error', 'checking for', 'configuring incomplete', 'meson.build:', 'ninja: error'],
  [
    {
      pattern: /^CMake Error(?: at (?<file>[^\s:]{1,300}):(?<line>\d{1,7}) \([\w-]{1,80}\))?:?(?<message>.{0,400})/,
      weight: 80,
      belongs: (line) => /^\s{2,200}\S|^Call Stack|^$/.test(line),
      messageBelow: (line) => /^\s{2,8}(?<said>\S.{0,400})$/.exec(line)?.groups?.said ?? null,
    },
    {
      pattern: /^(?:configure|\S{0,100}\/configure): error: (?<message>.{1,400})/,
      weight: 80,
      belongs: (line) => /^(?:See|configure: error|Try)\b/.test(line),
    },
    { pattern: /^(?<file>\S{0,200}meson\.build):(?<line>\d{1,7}):(?<column>\d{1,5}): ERROR: (?<message>.{1,400})/, weight: 80 },
    { pattern: /^ninja: error: (?<message>.{1,400})/, weight: 74 },
  ],
); // prettier-ignore

/** make: its own complaints. The line that says a recipe failed only points up. */
export const make = diagnosticExtractor(
  'make',
  ['*** ', 'no rule to make'],
  [
    { pattern: /^(?:g|mingw32-)?make(?:\[\d{1,2}\])?: \*\*\* (?<message>No rule to make target .{1,400})/, weight: 78 },
    { pattern: /^(?<file>[\w./-]{1,200}):(?<line>\d{1,6}): \*\*\* (?<message>.{1,300})/, weight: 76 },
    {
      pattern: /^(?:g|mingw32-)?make(?:\[\d{1,2}\])?: \*\*\* \[(?:(?<file>[^\s:]{1,200}):(?<line>\d{1,6}): )?(?<message>.{1,300})/,
      weight: 45,
      severity: 'error',
      pointer: true,
    },
  ],
); // prettier-ignore

/** npm, yarn and pnpm. */
export const npm = diagnosticExtractor(
  'npm',
  ['npm err!', 'npm error', 'err_pnpm', 'error an unexpected', "error couldn't find", 'error command failed', '➤ yn'],
  [
    {
      pattern: /^npm (?:ERR!|error) code (?<code>(?!ELIFECYCLE|1$)\w{1,60})/,
      weight: 80,
      messageBelow: npmMessage,
      belongs: (line) => /^npm (?:ERR!|error)/.test(line) && !/complete log|_logs\//.test(line),
    },
    {
      pattern:
        /^npm (?:ERR!|error) (?!A complete log|code |errno |path |command |\s{1,8}\/|Lifecycle script|Test failed|Exit status|missing script: $)(?<message>\S.{2,400})/,
      weight: 66,
      belongs: (line) => /^npm (?:ERR!|error)/.test(line) && !/complete log|_logs\//.test(line),
    },
    {
      pattern: /^npm (?:ERR!|error) (?<message>Test failed.{0,100}|code ELIFECYCLE|Lifecycle script.{0,200})/,
      weight: 40,
      pointer: true,
      belongs: (line) => /^npm (?:ERR!|error)/.test(line),
    },
    { pattern: /^\s?(?<code>ERR_PNPM_\w{1,60})\s{1,4}(?<message>.{1,400})/, weight: 80, belongs: indented },
    {
      pattern:
        /^error (?!Command failed)(?<message>(?:An unexpected error|Couldn't find|Your lockfile|Found incompatible|Package .{1,80} refers|https?:|.{1,80}: The engine).{0,400})/,
      weight: 78,
    },
    { pattern: /^➤ (?<code>YN(?!0000|0013|0019|0002|0060|0086|0007|0008)\d{4}): [^\n]{0,8}(?<message>.{1,400})/, weight: 74 },
  ],
); // prettier-ignore

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

/** Ruby's bundler, PHP's composer, Go modules, Cargo's resolver, and other package managers. */
export const packages = diagnosticExtractor(
  'packages',
  [
    'bundler could not',
    'could not find',
    'your requirements could not',
    'could not resolve',
    'no matching package',
    'e: unable',
    'e: failed',
    'e: package',
    'rake aborted',
    'cannot resolve',
    'unsatisfiable',
  ],
  [
    {
      pattern:
        /^(?<message>Bundler could not find compatible versions.{0,200}|Could not find .{1,200} in any of the sources.{0,100}|Your requirements could not be resolved.{0,200})/,
      weight: 80,
      belongs: indented,
    },
    { pattern: /^E: (?<message>(?:Unable|Failed|Package|Could|Version|Sub-process).{1,300})/, weight: 74 },
    { pattern: /^(?<message>rake aborted!)/, weight: 72, belongs: (line) => line.length > 0 && !/^\(See full/.test(line) },
    {
      pattern: /^(?<message>Could not (?:find artifact|transfer artifact).{1,300})/,
      weight: 72,
      belongs: (line) => /^(?:Could not|This could|If you are)/.test(line),
    },
  ],
); // prettier-ignore

/** Docker and BuildKit. */
export const docker = diagnosticExtractor(
  'docker',
  ['failed to solve', 'returned a non-zero code', 'error response from daemon', 'cannot connect to the docker', 'dockerfile:'],
  [
    {
      pattern:
        /(?<message>(?:ERROR: )?failed to solve: .{1,400}|The command '.{1,300}' returned a non-zero code: \d{1,3}|Error response from daemon: .{1,300}|Cannot connect to the Docker daemon.{0,200})/,
      weight: 70,
    },
    {
      pattern: /^(?<file>\S{0,200}Dockerfile\S{0,40}):(?<line>\d{1,5})$/,
      weight: 66,
      belongs: (line) => /^-{5,}|^\s{1,8}\d{0,5} \|/.test(line),
    },
  ],
); // prettier-ignore
