import { diagnosticExtractor } from './diagnostics.ts';

const indented = (line: string) => /^\s{1,200}\S/.test(line);
const bullet = (line: string) => /^\s{1,12}(?:• )?(?<said>\S.{0,400})$/.exec(line)?.groups?.said ?? null;

/** GHC, cabal and stack. */
export const haskell = diagnosticExtractor(
  'ghc',
  ['.hs:', '.lhs:', 'could not resolve dependencies', 'while constructing the build plan', '[__0]', 'cabal: ', 'error: [s-'],
  [
    {
      pattern:
        /^(?<file>[^\s:()]{1,250}\.l?hs):\(?(?<line>\d{1,7})[:,](?<column>\d{1,5})\)?(?:-\(?[\d,]{1,12}\)?)?: (?<severity>error|warning):?(?: \[(?<code>GHC-\d{1,6}|-W[\w-]{1,40})[^\]]{0,40}\])?(?<message>.{0,500})/,
      belongs: indented,
      messageBelow: bullet,
    },
    {
      tool: 'cabal',
      pattern:
        /^(?:Error: )?(?:\[Cabal-\d{1,5}\]|cabal(?:-\d[\w.]{0,12})?:)\s?(?<message>(?:Could not resolve|Failed to build|The following|No cabal file|Cannot|unrecognised).{0,400}|$)/,
      weight: 78,
      belongs: (line) => /^\[__\d|^\s{1,20}\S|^After searching/.test(line),
      telling: /conflict|unknown package|rejecting/,
    },
    {
      tool: 'stack',
      pattern: /^Error: (?:\[(?<code>S-\d{1,6})\])?\s{0,4}(?<message>(?:While constructing the build plan|.{0,80}build plan).{0,200}|$)/,
      weight: 78,
      belongs: (line) => /^\s{1,20}\S|^$|^In the dependencies|^Some different approaches/.test(line),
    },
  ],
); // prettier-ignore
