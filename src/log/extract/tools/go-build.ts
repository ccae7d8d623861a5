import { diagnosticExtractor } from './diagnostics.ts';

const goSource = (line: string) => /^\s{1,200}\S/.test(line);

/** go build and go vet, golangci-lint and staticcheck. */
export const goBuild = diagnosticExtractor(
  'go',
  ['.go:', 'level=error msg'],
  [
    {
      tool: 'packages',
      pattern:
        /^(?<file>[^\s:()]{1,250}\.go):(?<line>\d{1,7}):(?<column>\d{1,5}): (?<message>(?:no required module|missing go\.sum entry|cannot find (?:package|module)|package \S{1,200} is not in|module \S{1,200} provides|use of internal package|ambiguous import).{0,400})/,
      belongs: goSource,
    },
    {
      tool: 'staticcheck',
      pattern:
        /^(?<file>[^\s:()]{1,250}\.go):(?<line>\d{1,7}):(?<column>\d{1,5}): (?<message>.{1,400}) \((?<code>(?:SA|S|ST|QF|U)\d{4})\)$/,
      weight: 76,
    },
    {
      tool: 'golangci-lint',
      pattern: /^(?<file>[^\s:()]{1,250}\.go):(?<line>\d{1,7})(?::(?<column>\d{1,5}))?: (?<message>.{1,400}) \((?<code>[a-z]{3,30})\)$/,
      weight: 76,
      belongs: goSource,
    },
    {
      pattern: /^(?:vet: )?(?<file>[^\s:()]{1,250}\.go):(?<line>\d{1,7}):(?<column>\d{1,5}): (?<message>.{1,500})/,
      weight: 76,
      belongs: goSource,
    },
    { tool: 'golangci-lint', pattern: /^level=error msg="(?<message>[^"]{1,400})"/, weight: 74 },
  ],
); // prettier-ignore
