import { diagnosticExtractor } from './diagnostics.ts';

/** Lua, luacheck and LuaRocks. */
export const lua = diagnosticExtractor(
  'lua',
  ['.lua:', 'error: no results matching query', 'error: failed installing', 'error: could not satisfy dependency'],
  [
    {
      tool: 'luacheck',
      pattern:
        /^\s{0,8}(?<file>[^\s:]{1,250}\.lua):(?<line>\d{1,7}):(?<column>\d{1,5})(?:-\d{1,5})?: \((?<code>[WE]\d{3})\) (?<message>.{1,300})/,
      weight: 74,
    },
    {
      pattern: /^(?:lua|luajit|lua5\.\d|luac|texlua): (?<file>[^\s:]{1,250}):(?<line>\d{1,7}): (?<message>.{1,400})/,
      weight: 78,
      belongs: (line) => /^stack traceback:|^\t/.test(line),
    },
    {
      tool: 'packages',
      pattern: /^Error: (?<message>(?:No results matching query|Failed installing|Could not satisfy dependency).{0,300})/,
      weight: 78,
    },
  ],
); // prettier-ignore
