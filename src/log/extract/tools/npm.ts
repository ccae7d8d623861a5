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
