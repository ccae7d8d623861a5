import { diagnosticExtractor } from './diagnostics.ts';

/** Ivy and sbt (coursier): modules that cannot be resolved. */
export const sbt = diagnosticExtractor(
  'sbt',
  ['unresolved dependenc', 'resolveexception', 'error downloading ', '[error] not found: ', ': not found'],
  [
    {
      tool: 'packages',
      pattern:
        /^(?:\[error\] |\[ivy:\w{1,20}\]\s{0,8})?(?:\(.{1,80}\) )?\s{0,8}(?:[\w.]{1,80}ResolveException: )?(?<message>(?:unresolved dependency: |Error downloading |:: {1,2}UNRESOLVED DEPENDENCIES).{1,300})/i,
      weight: 79,
      belongs: (line) => /^(?:\[error\] |\[ivy:\w{1,20}\]\s{0,8})(?:\s{1,20}|:: |not found|download error|\s{0,8}::)/.test(line),
    },
    { tool: 'packages', pattern: /^\[ivy:\w{1,20}\]\s{1,8}:: (?<message>[\w.-]{1,100}#[\w.-]{1,100};\S{1,80}: not found)/, weight: 78 },
  ],
); // prettier-ignore

/** Gradle: modules and plugins that cannot be had, and scripts that do not evaluate. Its account of what went wrong has a reader of its own. */
export const gradleBuild = diagnosticExtractor(
  'gradle-script',
  [
    'could not resolve ',
    'could not find ',
    'was not found in any of the following sources',
    'could not get ',
    "build file '",
    'cannot choose between the following',
    'no matching variant',
  ],
  [
    {
      tool: 'packages',
      pattern:
        /^\s{0,12}> (?<message>(?:Could not find [\w.-]{1,120}:[\w.-]{1,120}:[\w.+-]{1,60}|Could not (?:GET|HEAD) '.{1,300}'|Could not resolve [\w.-]{1,120}:[\w.-]{1,120}:[\w.+-]{1,60}|No matching variant of |Cannot choose between the following).{0,300})/,
      weight: 77,
      belongs: (line) => /^\s{2,20}(?:> |- |Searched|Required by|project :|\S)/.test(line),
    },
    {
      tool: 'packages',
      pattern: /^(?<message>Plugin \[id: '.{1,120}'.{0,80}\] was not found in any of the following sources.{0,40})/,
      weight: 79,
      belongs: (line) => /^- /.test(line),
    },
    { pattern: /^(?:Build|Settings) file '(?<file>[^']{1,300})' line: (?<line>\d{1,6})(?<message>)$/, weight: 60, pointer: true },
  ],
); // prettier-ignore
