import { diagnosticExtractor } from './diagnostics.ts';

/** javac, alone, in Maven or in Gradle. */
export const javac = diagnosticExtractor(
  'javac',
  ['.java:', '.kt:', '.scala:', '.groovy:', '.kts:'],
  [
    {
      pattern:
        /^(?:\[(?:ERROR|javac|error)\]\s{0,8}){0,2}(?<file>(?:[A-Za-z]:)?[^\s:[\]]{1,300}\.(?:java|kt|groovy|scala)):\[(?<line>\d{1,7}),(?<column>\d{1,5})\] (?:error: )?(?<message>.{1,500})/,
      belongs: (line) => /^(?:\[ERROR\])?\s{1,200}\S|^symbol:|^location:/.test(line),
    },
    {
      pattern:
        /^(?:\s{0,8}\[\w{1,12}\]\s{0,8}){0,2}(?<file>(?:[A-Za-z]:)?[^\s:[\]()]{1,300}\.(?:java|kt|kts|groovy|scala)):(?<line>\d{1,7})(?::(?<column>\d{1,5}))?: (?:(?<severity>error|warning): ?)(?<message>.{1,500})/,
      belongs: (line) => /^(?:\s{0,8}\[\w{1,12}\])?\s{1,200}\S|^symbol:|^location:/.test(line),
    },
    {
      pattern:
        /^(?<severity>[ew]): (?:file:\/\/)?(?<file>[^\s:]{1,300}\.kts?):[ (]{0,2}(?<line>\d{1,7})[:, ]{1,2}(?<column>\d{1,5})\)?:? (?<message>.{1,500})/,
    },
    {
      pattern: /^\[error\] (?<file>[^\s:]{1,300}\.(?:scala|java)):(?<line>\d{1,7})(?::(?<column>\d{1,5}))?: (?<message>.{1,500})/,
      belongs: (line) => /^\[error\]\s/.test(line),
    },
  ],
); // prettier-ignore
