import { diagnosticExtractor } from './diagnostics.ts';

const mavenSource = (line: string) => /^(?:\[ERROR\])?\s{1,200}\S|^symbol:|^location:/.test(line);
const javaSource = (line: string) => /^(?:\s{0,8}\[\w{1,12}\])?\s{1,200}\S|^symbol:|^location:/.test(line);

/** javac, kotlinc, scalac and groovyc, alone, in Maven, in Gradle, in Ant or in sbt. */
export const javac = diagnosticExtractor(
  'javac',
  [
    '.java:[',
    '.kt:[',
    '.scala:',
    '.groovy:',
    '.kts:',
    'e: /',
    'e: file:',
    'error: ',
    ' warning: ',
    '[error] src',
    '[error] -- ',
    ' @ line ',
  ],
  [
    {
      pattern:
        /^(?:\[(?:ERROR|javac|error)\]\s{0,8}){0,2}(?<file>(?:[A-Za-z]:)?[^\s:[\]]{1,300}\.(?:java|kt|groovy|scala)):\[(?<line>\d{1,7}),(?<column>\d{1,5})\] (?:error: )?(?<message>.{1,500})/,
      belongs: mavenSource,
    },
    {
      pattern:
        /^(?:\s{0,8}\[\w{1,12}\]\s{0,8}){0,2}(?<file>(?:[A-Za-z]:)?[^\s:[\]()]{1,300}\.(?:java|kt|kts|groovy|scala)):(?<line>\d{1,7})(?::(?<column>\d{1,5}))?: (?:(?<severity>error|warning): ?)(?<message>.{1,500})/,
      belongs: javaSource,
    },
    {
      tool: 'kotlinc',
      pattern:
        /^(?<severity>[ew]): (?:file:\/\/)?(?<file>[^\s:]{1,300}\.kts?):[ (]{0,2}(?<line>\d{1,7})[:, ]{1,2}(?<column>\d{1,5})\)?:? (?<message>.{1,500})/,
    },
    {
      tool: 'groovyc',
      pattern:
        /^(?<file>[^\s:()]{1,300}\.groovy): ?(?<line>\d{1,7}): (?<message>.{1,400}?)(?: @ line \d{1,7}, column (?<column>\d{1,5})\.?)?$/,
      belongs: (line) => /^\s{1,200}\S/.test(line),
    },
    {
      tool: 'scalac',
      pattern:
        /^\[error\] -- (?:\[(?<code>E\d{1,4})\] )?(?<message>[\w ]{1,60}(?:Error|Warning)): (?<file>[^\s:]{1,300}\.scala):(?<line>\d{1,7}):(?<column>\d{1,5})/,
      belongs: (line) => /^\[error\]\s{0,4}(?:\d{0,6}\s?\||$)/.test(line),
      messageBelow: (line) => /^\[error\]\s{1,12}\|\s{1,200}(?<said>(?![\^-])\S.{0,400})/.exec(line)?.groups?.said ?? null,
    },
    {
      pattern: /^\[error\] (?<file>[^\s:]{1,300}\.(?:scala|java)):(?<line>\d{1,7})(?::(?<column>\d{1,5}))?: (?<message>.{1,500})/,
      belongs: (line) => /^\[error\]\s/.test(line),
    },
  ],
); // prettier-ignore
