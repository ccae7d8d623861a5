import { diagnosticExtractor } from './diagnostics.ts';

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

const npmLine = (line: string) => /^npm (?:ERR!|error)/.test(line) && !/complete log|_logs\//.test(line);

/** npm, before and after version 10 (`npm ERR!`, `npm error`). */
export const npm = diagnosticExtractor(
  'npm',
  ['npm err!', 'npm error'],
  [
    {
      pattern: /^npm (?:ERR!|error) code (?<code>(?!ELIFECYCLE|1$)\w{1,60})/,
      weight: 80,
      messageBelow: npmMessage,
      belongs: npmLine,
    },
    {
      pattern:
        /^npm (?:ERR!|error) (?!A complete log|code |errno |path |command |\s{1,8}\/|Lifecycle script|Test failed|Exit status|missing script: $)(?<message>\S.{2,400})/,
      weight: 66,
      belongs: npmLine,
    },
    {
      pattern: /^npm (?:ERR!|error) (?<message>Test failed.{0,100}|code ELIFECYCLE|Lifecycle script.{0,200})/,
      weight: 40,
      pointer: true,
      belongs: (line) => /^npm (?:ERR!|error)/.test(line),
    },
  ],
); // prettier-ignore
