import { diagnosticExtractor } from './diagnostics.ts';

/** Package managers of operating systems: apt and dpkg, yum and dnf, apk, Homebrew, Chocolatey. `Ign:` and `Hit:` lines are no errors. */
export const packages = diagnosticExtractor(
  'packages',
  [
    'e: unable',
    'e: failed',
    'e: package',
    'e: could',
    'e: version',
    'e: sub-process',
    'e: the repository',
    'e: no packages',
    'dpkg: error',
    'err:',
    'error: unable to find a match',
    'no match for argument',
    'nothing to do',
    'error: failed to download',
    'unable to select packages',
    ' (no such package)',
    'no available formula',
    'no bottle available',
    'the package was not found with the source',
    'error: cannot resolve',
    'unsatisfiable',
  ],
  [
    { pattern: /^E: (?<message>(?:Unable|Failed|Package|Could|Version|Sub-process|The repository|No packages).{1,300})/, weight: 74 },
    { pattern: /^dpkg: error (?<message>processing .{1,300})/, weight: 74, belongs: (line) => /^\s{1,8}\S/.test(line) },
    { pattern: /^Err:\d{1,4} (?<message>\S.{1,300})/, weight: 60, belongs: (line) => /^\s{2,8}\S/.test(line), isMessage: true },
    {
      pattern: /^(?:Error: )?(?<message>Unable to find a match: .{1,200}|No match for argument: .{1,200}|Error: Nothing to do.{0,40})/,
      weight: 76,
    },
    {
      pattern: /^ERROR: (?<message>unable to select packages:.{0,100})/,
      weight: 78,
      belongs: (line) => /^\s{1,8}\S/.test(line),
      messageBelow: (line) => /^\s{1,4}(?<said>\S.{0,200}\(no such package\).{0,40})/.exec(line)?.groups?.said ?? null,
    },
    { pattern: /^Error: (?<message>No available formula .{1,200}|.{1,80}: no bottle available!.{0,40})/, weight: 76 },
    { pattern: /^(?<message>\S{1,80} not installed\. The package was not found with the source.{1,200})/, weight: 76 },
  ],
); // prettier-ignore
