import type { Placed } from './place.ts';

/** How a tool is known by what {@link anyTool} has read; every pattern that is given must fit. One row for each tool. */
export interface ToolName {
  readonly tool: string;
  readonly file?: RegExp;
  readonly code?: RegExp;
  /** The line as printed; a group `code` is the finding's code where the line has none yet, and is cut from the message's end. */
  readonly says?: RegExp;
  /** Every finding counts as this, whatever word it bears: a linter that fails by its notes. */
  readonly severity?: 'error';
  /** It prints no severity: a sentence is a finding where the place names at least this. */
  readonly isPlain?: 'line' | 'column';
  readonly weight?: number;
}

// biome-ignore format: one row for each tool
export const TOOL_NAMES: readonly ToolName[] = [
  { tool: 'clang-format', says: /code should be clang-formatted \[-W(?<code>[\w-]{1,60})\]/, severity: 'error' },
  { tool: 'clang-tidy', code: /^(?:bugprone|cert|clang-analyzer|cppcoreguidelines|google|hicpp|llvm|misc|modernize|performance|portability|readability|concurrency)-/ },
  { tool: 'cppcheck', says: /: (?:style|performance|portability): .{1,400} \[\w{1,60}\]$/ },
  { tool: 'hadolint', file: /Dockerfile|Containerfile/, code: /^(?:DL|SC)\d{4}$/, severity: 'error', weight: 74 },
  { tool: 'shellcheck', code: /^SC\d{4}$/, severity: 'error', weight: 76 },
  { tool: 'markdownlint', code: /^MD\d{3}$/, severity: 'error', weight: 74 },
  { tool: 'msvc', code: /^(?:C|LNK|D)\d{4}$/, says: /(?:error|warning) (?:C|LNK|D)\d{4}\s?:/ },
  { tool: 'nuget', code: /^NU\d{4}$/ },
  { tool: 'tsc', code: /^TS\d{1,5}$/ },
  { tool: 'msbuild', code: /^[A-Z]{1,8}\d{1,6}$/, says: /(?:error|warning) [A-Z]{1,8}\d{1,6}\s?:/ },
  { tool: 'ruff', file: /\.(?:pyi?|ipynb)$/, says: /\n\s{1,8}--> /, severity: 'error', weight: 76 },
  { tool: 'pylint', file: /\.pyi?$/, code: /^[CRWEF]\d{4}$/, severity: 'error', weight: 76 },
  { tool: 'pyright', file: /\.pyi?$/, says: /\d - (?:error|warning): |\(report\w{1,60}\)$/ },
  { tool: 'linter', file: /\.(?:pyi?|ipynb)$/, code: /^[A-Z]{1,5}\d{1,5}$/, severity: 'error', weight: 76 },
  { tool: 'mypy', file: /\.pyi?$/, says: /: error: / },
  { tool: 'yamllint', file: /\.ya?ml$/, says: /: \[(?:error|warning)\] .{1,400}\((?<code>[a-z-]{2,60})\)$|^\s{1,8}\d/ },
  { tool: 'actionlint', file: /\.github\/workflows\//, isPlain: 'column' },
  { tool: 'biome', code: /^(?:lint|assist)\// },
  { tool: 'stylelint', file: /\.(?:css|scss|sass|less)$/, code: /^[@a-z]/ },
  { tool: 'eslint', code: /^[@a-z]/, file: /\.(?:[cm]?[jt]sx?|vue|svelte)$/ },
  { tool: 'eslint', says: /, (?:Error|Warning) - |\[(?:Error|Warning)\/|\((?<code>[@a-z][\w@/-]{1,80})\)$/, file: /\.(?:[cm]?[jt]sx?|vue|svelte)$/ },
  { tool: 'staticcheck', file: /\.go$/, says: /\((?<code>(?:SA|S|ST|QF|U)\d{4})\)$/, weight: 76, isPlain: 'column' },
  { tool: 'golangci-lint', file: /\.go$/, says: /\((?<code>[a-z]{3,30})\)$/, weight: 76, isPlain: 'column' },
  { tool: 'go', file: /\.go$/, weight: 76, isPlain: 'column' },
  { tool: 'rubocop', code: /^[A-Z]\w{1,40}\/\w/, severity: 'error', weight: 76 },
  { tool: 'ruby', file: /\.(?:rb|rake|gemspec)$/, says: /syntax error/, weight: 80, isPlain: 'line' },
  { tool: 'luacheck', file: /\.lua$/, code: /^[WE]\d{3}$/, severity: 'error', weight: 74 },
  { tool: 'lua', file: /\.lua$/, says: /^(?:lua|luajit|lua5\.\d|luac|texlua): /, isPlain: 'line' },
  { tool: 'kotlinc', file: /\.kts?$/, says: /^[ew]: / },
  { tool: 'groovyc', file: /\.groovy$/, isPlain: 'line' },
  { tool: 'javac', file: /\.(?:java|kts?|scala|groovy)$/ },
  { tool: 'gcc', file: /\.(?:c|cc|cpp|cxx|c\+\+|h|hh|hpp|hxx|mm?|cu|inc|def|[sS]|ipp|tcc)$/ },
  { tool: 'rustc', file: /\.rs$/ },
  { tool: 'swift', file: /\.swift$/ },
  { tool: 'ghc', file: /\.l?hs$/ },
  { tool: 'elixir', file: /\.exs?$/ },
  { tool: 'erlang', file: /\.[eh]rl$/, isPlain: 'line' },
  { tool: 'perl', file: /\.(?:p[lm]|t)$/ },
  { tool: 'php', file: /\.php$/ },
  { tool: 'terraform', file: /\.tf(?:\.json|vars)?$/ },
  { tool: 'meson', file: /(?:^|\/)meson\.build$/, weight: 80 },
  { tool: 'configure', file: /(?:^|\/)(?:configure\.(?:ac|in)|Makefile\.am)$/ },
  { tool: 'compiler', file: /\.(?:mli?|dart|zig|nim|s?v|vhd|d|pas|f90|jl|elm|purs|proto|fs|vala|cr|sol)$/ },
];

/** The row that names the tool, or null: nobody taught us. `leftOut`: tools that are not to be known, for measurements. */
export function nameTool(placed: Placed, text: string, leftOut: ReadonlySet<string>): ToolName | null {
  const { file, code } = placed;
  for (const row of TOOL_NAMES) {
    const fits = row.code === undefined || (code !== null && row.code.test(code));
    if (fits && (row.file?.test(file) ?? true) && (row.says?.test(text) ?? true) && !leftOut.has(row.tool)) return row;
  }
  return null;
}
