import { diagnosticExtractor } from './diagnostics.ts';

const indented = (line: string) => /^\s{1,200}\S/.test(line);

/** Elixir's compiler and mix. */
export const elixir = diagnosticExtractor(
  'elixir',
  ['** (', '.ex:', '.exs:', '== compilation error', 'error: undefined ', '(mix)'],
  [
    { tool: 'mix', pattern: /^\s{0,4}\*\* \(Mix\) (?<message>.{1,400})/, weight: 74, belongs: indented },
    {
      pattern:
        /^\s{0,4}\*\* \((?<code>(?:Compile|Syntax|Token)\w{0,30}Error|MismatchedDelimiterError)\) (?:(?<file>[^\s:]{1,250}\.exs?):(?<line>\d{1,7})(?::(?<column>\d{1,5}))?: )?(?<message>.{1,400})/,
      belongs: indented,
    },
    { pattern: /^\*\* \((?<code>\w{1,60}(?:Error|Exception))\) (?<message>.{1,400})/, belongs: indented },
    {
      pattern:
        /^(?<file>[^\s:()]{1,250}\.exs?):(?<line>\d{1,7})(?::(?<column>\d{1,5}))?: (?<severity>error|warning): ?(?<message>.{1,400})/,
      belongs: indented,
    },
    {
      pattern: /^\s{0,6}error: (?<message>undefined .{1,400})/,
      belongs: (line) => indented(line) || /^\s{0,4}[│└]/.test(line),
      placeBelow: /└─ (?<file>[^\s:]{1,250}):(?<line>\d{1,7})(?::(?<column>\d{1,5}))?/,
    },
    { pattern: /^== Compilation error in file (?<file>[^\s=]{1,250}) ==(?<message>)/, weight: 70, pointer: true },
  ],
); // prettier-ignore

/** Erlang's compiler and rebar3. */
export const erlang = diagnosticExtractor(
  'erlang',
  ['.erl:', '.hrl:', '===> '],
  [
    {
      pattern: /^(?<file>[^\s:()]{1,250}\.[eh]rl):(?<line>\d{1,7})(?::(?<column>\d{1,5}))?: (?<severity>[Ww]arning: )?(?<message>.{1,500})/,
    },
    {
      tool: 'rebar3',
      pattern:
        /^===> (?<message>(?:Compiling .{1,200} failed|Package not found|Unable to|Failed to|Dependency failure|Could not|Error |Errors |Plugin .{1,100} not available|Missing|Uncaught error).{0,300})/,
      weight: 70,
      belongs: indented,
    },
    {
      tool: 'rebar3',
      pattern: /^\s{0,4}[┌╭]─ (?<file>[^\s:]{1,250}\.[eh]rl):(?<message>)/,
      belongs: (line) => /^\s{0,6}(?:\d{0,6} {0,3})?[│└╰]/.test(line),
      messageBelow: (line) => /[│└╰][\s─]{0,80}[╰└]──? (?<said>.{1,400})/.exec(line)?.groups?.said ?? null,
    },
  ],
); // prettier-ignore
