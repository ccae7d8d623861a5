import type { Tool } from './diagnostics.ts';
import { indented } from './diagnostics.ts';

/** What an action printed below the line of the builder, up to its next word. */
const printedByBazel = (line: string) => !/^(?:ERROR|INFO|WARNING|Target|FAILED|Build|\[\d|\(\d\d:)/.test(line);
const printedByNinja = (line: string) => !/^\[\d{1,6}\/\d{1,6}\]|^ninja: |^FAILED: /.test(line) && line !== '';
const mavenSays = (line: string) =>
  /^\[ERROR\] (?!Failed to execute|To see|Re-run|For more|After correcting|-> \[|\[Help)\S|^(?:Could not|This could|If you are)/.test(line);

/** Builders and what configures them: CMake, configure, ninja, make, Bazel, Maven, Gradle, sbt and Ivy. */
// biome-ignore format: one line for each shape
export const BUILDERS: readonly Tool[] = [
  {
    tool: 'cmake',
    literals: ['cmake error'],
    says: [{
      pattern: /^CMake Error(?: at (?<file>[^\s:]{1,300}):(?<line>\d{1,7}) \([\w-]{1,80}\))?:?(?<message>.{0,400})/,
      weight: 80,
      belongs: (line) => /^\s{2,200}\S|^Call Stack|^$/.test(line),
      messageBelow: (line) => /^\s{2,8}(?<said>\S.{0,400})$/.exec(line)?.groups?.said ?? null,
    }],
  },
  {
    tool: 'configure',
    literals: ['configure: error', 'makefile.am:', 'autoreconf: error', 'automake: error', 'aclocal: error', 'autoconf: error'],
    says: [
      {
        pattern: /^(?:\S{0,100}\/)?configure: error: in [`'].{1,200}':(?<message>)$/,
        weight: 80,
        belongs: (line) => /^(?:\S{0,100}\/)?configure: error|^See\b/.test(line),
        messageBelow: (line) => /^(?:\S{0,100}\/)?configure: error: (?<said>.{1,400})/.exec(line)?.groups?.said ?? null,
      },
      { pattern: /^(?:\S{0,100}\/)?configure: error: (?<message>.{1,400})/, weight: 80, belongs: (line) => /^(?:See|Try)\b|^\s{2,20}\S|^(?:\S{0,100}\/)?configure: error/.test(line) },
      { pattern: /^(?<file>(?:\S{0,200}\/)?Makefile\.am):(?<line>\d{1,7}): required file: (?<message>.{1,400})/, weight: 78, belongs: indented },
      { pattern: /^(?:autoreconf|automake|aclocal|autoconf)(?:-[\d.]{1,8})?: error: (?<message>.{1,400})/, weight: 66 },
    ],
  },
  {
    tool: 'ninja',
    literals: ['ninja: error', 'failed: '],
    says: [
      { pattern: /^ninja: error: (?<message>.{1,400})/, weight: 74 },
      { pattern: /^FAILED: (?<message>(?:\[code=\d{1,3}\] )?[^\s:]{1,300})(?:\s{1,2}[^\s:]{1,300}(?: [^\s:]{1,300}){0,3})?\s{0,2}$/, weight: 58, pointer: true, belongs: printedByNinja },
    ],
  },
  {
    tool: 'bazel',
    literals: ['error: no such', 'error: analysis of', 'error: error ', 'error: skipping', 'error: an error occurred during', 'no such target', 'error: /'],
    says: [
      { pattern: /^ERROR: (?<file>\/[^\s:]{1,300}\/(?:BUILD|WORKSPACE|MODULE)(?:\.bazel)?|\/[^\s:]{1,300}\.bzl):(?<line>\d{1,7}):(?<column>\d{1,5}): (?<message>.{1,500})/, weight: 76, belongs: printedByBazel },
      { pattern: /^ERROR: (?:Skipping '.{1,200}': )?(?<message>(?:no such (?:package|target)|Error computing the main repository|An error occurred during the fetch|error loading package).{0,400})/, weight: 78, belongs: (line) => /^\s{1,20}\S|^- \//.test(line) },
      { pattern: /^ERROR: (?<message>Analysis of target .{1,300})/, weight: 56, pointer: true },
    ],
  },
  {
    tool: 'make',
    literals: ['*** ', 'make: '],
    says: [
      { pattern: /^(?:g|mingw32-)?make(?:\[\d{1,2}\])?: \*\*\* (?<message>No rule to make target .{1,400})/, weight: 78 },
      { pattern: /^(?<file>[\w./-]{1,200}):(?<line>\d{1,6}): \*\*\* (?<message>.{1,300})/, weight: 76 },
      { pattern: /^(?:g|mingw32-)?make(?:\[\d{1,2}\])?: \*\*\* \[(?:(?<file>[^\s:]{1,200}):(?<line>\d{1,6}): )?(?<message>.{1,300})/, weight: 45, severity: 'error', pointer: true },
      { pattern: /^(?:g|mingw32-)?make(?:\[\d{1,2}\])?: (?<message>\S{1,200}: (?:Command not found|No such file or directory|Permission denied).{0,40})/, weight: 80, isMessage: true },
    ],
  },
  {
    tool: 'mvn',
    literals: ['failed to execute goal', 'could not find artifact', 'could not transfer artifact', 'could not resolve dependencies', 'non-resolvable', 'failed with message', 'unknown lifecycle phase', 'no goals have been specified', 'the selected project in the reactor', 'no plugin found for prefix', 'non-parseable pom', 'malformed pom', 'is missing. @ line'],
    says: [
      { pattern: /^\[ERROR\] Failed to execute goal (?<message>\S{1,200} .{0,200}: (?:Compilation failure|There (?:are|were) test (?:failures|errors)|Test failure|There was a timeout).{0,200})/, weight: 50, pointer: true },
      { pattern: /^\[(?:ERROR|FATAL)\] (?:Failed to execute goal .{1,200}: )?(?<message>(?:Could not resolve dependencies for project|Plugin \S{1,200} or one of its dependencies could not be resolved|Non-resolvable \w{1,20} POM|No plugin found for prefix).{0,600})/, weight: 79, belongs: mavenSays },
      { pattern: /^(?:\[(?:ERROR|FATAL)\] )?(?<message>Could not (?:find artifact|transfer artifact).{1,400})/, weight: 74, belongs: mavenSays },
      {
        pattern: /^\[ERROR\] (?<message>Rule \d{1,3}: \S{1,200} failed with message:.{0,300})/,
        weight: 79,
        belongs: (line) => /^(?!\[(?:INFO|WARNING)\])\S/.test(line) && !/^\[ERROR\] (?:Rule|->|To see)/.test(line),
        messageBelow: (line) => /^(?:\[ERROR\] )?(?<said>(?!\[)\S.{0,400})/.exec(line)?.groups?.said ?? null,
      },
      { pattern: /^\[(?:ERROR|FATAL)\] (?<message>(?:Unknown lifecycle phase|No goals have been specified|Could not find the selected project|Non-parseable POM|Malformed POM|'[\w.]{1,80}' .{0,80} is missing).{0,300}?)(?: @ .{0,8}line (?<line>\d{1,7}), column (?<column>\d{1,5}).{0,40})?$/, weight: 79 },
      { pattern: /^\[ERROR\] Failed to execute goal (?<message>\S{1,200} .{0,400})/, weight: 66, belongs: mavenSays, isMessage: true },
    ],
  },
  {
    tool: 'sbt',
    literals: ['unresolved dependenc', 'resolveexception', 'error downloading ', '[error] not found: ', ': not found'],
    says: [
      { pattern: /^(?:\[error\] |\[ivy:\w{1,20}\]\s{0,8})?(?:\(.{1,80}\) )?\s{0,8}(?:[\w.]{1,80}ResolveException: )?(?<message>(?:unresolved dependency: |Error downloading |:: {1,2}UNRESOLVED DEPENDENCIES).{1,300})/i, weight: 79, belongs: (line) => /^(?:\[error\] |\[ivy:\w{1,20}\]\s{0,8})(?:\s{1,20}|:: |not found|download error|\s{0,8}::)/.test(line) },
      { pattern: /^\[ivy:\w{1,20}\]\s{1,8}:: (?<message>[\w.-]{1,100}#[\w.-]{1,100};\S{1,80}: not found)/, weight: 78 },
    ],
  },
  {
    tool: 'gradle',
    literals: ['could not resolve ', 'could not find ', 'was not found in any of the following sources', 'could not get ', "build file '", "settings file '", 'cannot choose between the following', 'no matching variant'],
    says: [
      { pattern: /^\s{0,12}> (?<message>(?:Could not find [\w.-]{1,120}:[\w.-]{1,120}:[\w.+-]{1,60}|Could not (?:GET|HEAD) '.{1,300}'|Could not resolve [\w.-]{1,120}:[\w.-]{1,120}:[\w.+-]{1,60}|No matching variant of |Cannot choose between the following).{0,300})/, weight: 77, belongs: (line) => /^\s{2,20}(?:> |- |Searched|Required by|project :|\S)/.test(line) },
      { pattern: /^(?<message>Plugin \[id: '.{1,120}'.{0,80}\] was not found in any of the following sources.{0,40})/, weight: 79, belongs: (line) => /^- /.test(line) },
      { pattern: /^(?:Build|Settings) file '(?<file>[^']{1,300})' line: (?<line>\d{1,6})(?<message>)$/, weight: 60, pointer: true },
    ],
  },
];
