import type { Diagnostic } from '../../../domain/failure.ts';

/** A place in a file, with the message on the same line. */
export interface Placed {
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
  /** The severity; `none` for a note or hint, null if the line has none. */
  readonly severity: Severity | null;
  readonly code: string | null;
  /** The message; empty if the line holds only the place. */
  readonly message: string;
}

type Severity = Diagnostic['severity'] | 'none';

/** Severity, code and message, after a place or alone. */
type Said = Pick<Placed, 'severity' | 'code' | 'message'>;

/**
 * Prefixes of a place or message: markers of CI systems and loggers, severities, bullets, and program names.
 */
const MARKS: readonly RegExp[] = [
  /^[\s│|]{1,60}/,
  /^##\[(?<word>error|warning|notice)\]/,
  /^\[(?<word>ERROR|WARNING|WARN|FATAL|INFO|DEBUG|[xX!])\](?=[\s:])/i,
  /^\[[a-z][\w.:-]{0,19}\](?=\s)/,
  /^(?<word>(?:fatal )?error|fatal|warning)(?: in|: ?)(?=\s|\S{0,200}\.\w)/i,
  /^(?<word>[✖✘×❌✗✕⚠ew])(?:️|:)?(?=\s)/,
  /^(?:\d{1,4}>|[-*•●>](?=\s)|In(?=\s)|file:\/\/|[a-z][\w.+-]{0,30}:(?=\s))/,
  // The package and script of a task runner: `packages/cart build: `, `@shop/cart:build: `.
  /^(?:(?:\.|[\w.-]{1,60}\/[\w./-]{1,60}) [a-z][\w:-]{0,40}|(?:@[\w.-]{1,40}\/)?[a-z][\w-]{0,40}:[a-z][\w:-]{0,40}):(?=\s\S{1,200}[:(]\d)/,
];

const PLACE =
  /^(?<file>(?:[A-Za-z]:[\\/])?[^\s:|<>"'`;=]{1,250}?)(?:(?::\s?|\s)?[([](?<line1>\d{1,7})(?:[,:]\s?(?<column1>\d{1,6}))?(?:,\d{1,7},\d{1,7})?[)\]](?:-\(\d{1,7}[,:]\d{1,6}\))?|:(?<line2>\d{1,7})(?:[:.,](?<column2>\d{1,6}))?(?:-\d{1,7}(?::\d{1,6})?)?|:? lines? (?<line3>\d{1,7})(?:,? col(?:umn)?:? (?<column3>\d{1,6}))?|:? (?<line4>\d{1,7})(?::(?<column4>\d{1,6})(?:-[\d:]{1,12})?)?)(?=[\s:,]|$)(?<rest>.{0,1500})/;
/** A path that contains spaces. It is accepted only before a line, a column and a severity. */
const SPACED =
  /^(?<file>(?:[A-Za-z]:[\\/])?[^\s:|<>"'`;=][^:|<>"'`;=]{0,250}\.\w{1,10}):(?<line2>\d{1,7}):(?<column2>\d{1,6})(?=: (?:fatal )?(?:error|warning|note)\b)(?<rest>.{0,1500})/;
/** File names without an extension. */
const BARE_NAME = new RegExp(
  '^(?:Dockerfile|Makefile|GNUmakefile|BUILD|WORKSPACE|Gemfile|Rakefile|Jenkinsfile|Podfile|' +
    String.raw`Fastfile|Justfile|Vagrantfile|Procfile|go\.mod|go\.sum)(?:\.\w{1,20})?$`,
  'i',
);
const EXTENSION = /\.[A-Za-z_][\w+-]{0,11}$/;
/** A host name whose last part looks like a file extension. */
const HOST = new RegExp(
  String.raw`^[\w.-]{1,200}\.(?:com|org|net|io|dev|local|localhost|internal|cloud|app|` +
    'svc|test|invalid|edu|gov|eu|de|uk|co|ai|info)$',
  'i',
);

const SEVERITY = new RegExp(
  '^[([]?(?<word>(?:fatal )?error|err|fatal|failure|critical|warning|warn|note|info|' +
    'information|hint|help|remark|style|performance|portability|convention|refactor|' +
    String.raw`notice|[EWFCRI](?=:\s))[)\]]?(?:\[(?<code>[^\]\s]{1,60})\])?(?:\s?:\s{0,4}|` +
    String.raw`\s-\s{1,4}|\s{2,8}|(?<=\])\s|\s(?=[A-Z]{1,8}\d{2,6}\b)|$)`,
  'i',
);
const CODE = new RegExp(
  String.raw`^[([]?(?:(?<code>[A-Z]{1,9}-?\d{2,6})(?:/[\w-]{1,60})?|` +
    String.raw`(?<rule>[A-Z]\w{1,40}(?:/\w{1,60}){1,3}|(?:lint|assist)/[\w/]{1,80}|` +
    String.raw`-W[\w-]{1,40})(?:, ?-W[\w=-]{1,60})?)[)\]]?[:,]?(?:\s{1,8}|$)`,
);
const REMARK = /^\[(?:[*-]|[A-Z][a-z]{1,20})\]\s/;
const END_CODE = new RegExp(
  String.raw`^(?<message>.{1,1000}?)\s{1,40}(?:\[(?:(?<word>Error|Warning)/)?` +
    String.raw`(?<code>[a-z@][\w@/.-]{1,80}|[A-Z]{1,6}\d{2,6})(?:,[\w,-]{1,80})?\]|` +
    String.raw`\((?<rule>(?:[\w@]{1,40}[-/]){1,4}[\w-]{1,40}|[A-Z]{1,4}\d{2,6}|report[A-Z]\w{1,60})\))$`,
);

/**
 * Checks whether a name is a file name: it has an extension, or is known without one, and is not a host,
 * version or address.
 */
export function isFile(name: string): boolean {
  const base = name.split(/[\\/]/).at(-1) ?? '';
  if (/^\/\/|:\/\/|^[$@]|[{}]|\.\.\./.test(name)) return false;
  return BARE_NAME.test(base) || (EXTENSION.test(base) && !HOST.test(name));
}

/**
 * Reads a line that begins with a place, after any prefixes: `file:line:col: error CODE: message` in any
 * notation. Returns null if there is none.
 */
export function readPlaced(text: string): Placed | null {
  const { rest: unmarked, severity: mark } = withoutMarks(text);
  const groups = (SPACED.exec(unmarked) ?? PLACE.exec(unmarked))?.groups;
  if (groups === undefined || !isFile(groups.file ?? '')) return null;
  const { file = '', line1, line2, line3, line4, column1, column2, column3, column4, rest = '' } = groups;
  if (line4 !== undefined && column4 === undefined && !/^:\s|^\s[A-Z]{2,4}\d{3,4}\b/.test(rest)) return null;
  const parsed = readSaid(rest.replace(/^(?::\{[\d:,-]{1,60}\})?:{0,2}[,]?\s{0,8}(?:[-–—|]\s{1,4})?/, ''));
  return {
    file,
    line: parseNumber(line1 ?? line2 ?? line3 ?? line4),
    column: parseNumber(column1 ?? column2 ?? column3 ?? column4),
    ...parsed,
    severity: parsed.severity ?? mark,
  };
}

/** Reads a message that begins with a severity or code, after any prefixes. */
export function readHead(text: string): Said {
  const { rest, severity } = withoutMarks(text);
  const message = readSaid(rest);
  return { ...message, severity: message.severity ?? severity };
}

/** Returns the severity that a term or sign stands for. */
export function parseSeverity(word: string): Severity {
  if (/^(?:note|info|hint|help|remark|notice|debug|i$)/i.test(word)) return 'none';
  return /^(?:[⚠wcr]$|warn|style|performance|portability|convention|refactor)/i.test(word)
    ? 'warning'
    : 'error';
}

/** Parses a number in digits. Returns null if there is none. */
export function parseNumber(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits);
}

function withoutMarks(text: string): { readonly rest: string; readonly severity: Severity | null } {
  let rest = text;
  let severity: Severity | null = null;
  for (let times = 0; times < 6; times++) {
    const mark = MARKS.find((pattern) => pattern.test(rest));
    const match = mark?.exec(rest);
    if (match == null) break;
    const word = match.groups?.word;
    if (word !== undefined) severity = parseSeverity(word);
    rest = rest.slice(match[0].length);
  }
  return { rest: rest.trimStart(), severity };
}

/** Reads severity and code in any order, then the message, which may end with its code. */
function readSaid(text: string): Said {
  let rest = text;
  let severity: Severity | null = null;
  let code: string | null = null;
  for (let times = 0; times < 4; times++) {
    const word: RegExpExecArray | null = severity === null ? SEVERITY.exec(rest) : null;
    const coded: RegExpExecArray | null = word === null && code === null ? CODE.exec(rest) : null;
    const match = word ?? coded ?? REMARK.exec(rest);
    if (match === null) break;
    if (word !== null) severity = parseSeverity(word.groups?.word ?? '');
    code = word?.groups?.code ?? coded?.groups?.code ?? coded?.groups?.rule ?? code;
    rest = rest.slice(match[0].length).trimStart();
  }
  const message = rest.replace(/\s{0,4}(?:FIXABLE\s{1,4})?━{3,200}$/, '').trim();
  const end = /[\])]$/.test(message) ? END_CODE.exec(message)?.groups : undefined;
  if (end === undefined || /\.\w{0,4}proj$/.test(end.code ?? '')) {
    // Python and others begin with the class of a warning: `DeprecationWarning: …`.
    const isWarning = /^\w{0,60}(?:Warning|Deprecated|DEPRECATED|Notice):/.test(message);
    return { severity: severity ?? (isWarning ? 'warning' : null), code, message };
  }
  severity ??= end.word === undefined ? null : parseSeverity(end.word);
  return { severity, code: code ?? end.code ?? end.rule ?? null, message: end.message ?? '' };
}

/** The patterns that identify a tool in what {@link anyTool} has read. All patterns of a row must match. */
interface ToolName {
  readonly tool: string;
  readonly file?: RegExp;
  readonly code?: RegExp;
  /**
   * Matches the line as printed. If the line has no code yet, the group `code` is the finding's code, and it
   * is removed from the end of the message.
   */
  readonly says?: RegExp;
  /** The severity of every finding, whatever the line says: the linter fails on any finding. */
  readonly severity?: 'error';
  /**
   * The position that a finding must have, for tools that print no severity. A sentence with such a place is
   * a finding.
   */
  readonly isPlain?: 'line' | 'column';
  readonly weight?: number;
}

// biome-ignore format: one row for each tool
export const TOOL_NAMES: readonly ToolName[] = [
  { tool: 'clang-format', says: /code should be clang-formatted \[-W(?<code>[\w-]{1,60})\]/,
    severity: 'error' },
  { tool: 'clang-tidy',
    code: new RegExp(
      '^(?:bugprone|cert|clang-analyzer|cppcoreguidelines|google|hicpp|llvm|misc|' +
      'modernize|performance|portability|readability|concurrency)-',
    ) },
  { tool: 'cppcheck', says: /: (?:style|performance|portability): .{1,400} \[\w{1,60}\]$/ },
  { tool: 'hadolint', file: /Dockerfile|Containerfile/, code: /^(?:DL|SC)\d{4}$/, severity: 'error',
    weight: 74 },
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
  { tool: 'yamllint', file: /\.ya?ml$/,
    says: /: \[(?:error|warning)\] .{1,400}\((?<code>[a-z-]{2,60})\)$|^\s{1,8}\d/ },
  { tool: 'actionlint', file: /\.github\/workflows\//, isPlain: 'column' },
  { tool: 'biome', code: /^(?:lint|assist)\// },
  { tool: 'stylelint', file: /\.(?:css|scss|sass|less)$/, code: /^[@a-z]/ },
  { tool: 'eslint', code: /^[@a-z]/, file: /\.(?:[cm]?[jt]sx?|vue|svelte)$/ },
  { tool: 'eslint', says: /, (?:Error|Warning) - |\[(?:Error|Warning)\/|\((?<code>[@a-z][\w@/-]{1,80})\)$/,
    file: /\.(?:[cm]?[jt]sx?|vue|svelte)$/ },
  { tool: 'staticcheck', file: /\.go$/, says: /\((?<code>(?:SA|S|ST|QF|U)\d{4})\)$/, weight: 76,
    isPlain: 'column' },
  { tool: 'golangci-lint', file: /\.go$/, says: /\((?<code>[a-z]{3,30})\)$/, weight: 76, isPlain: 'column' },
  { tool: 'go', file: /\.go$/, weight: 76, isPlain: 'column' },
  { tool: 'ansible-lint', file: /\.ya?ml$/, code: /^Task\/Handler$/ },
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

/**
 * Returns the row that identifies the tool, or null if the tool is unknown. `leftOut` names tools that must
 * not be recognized, for measurements.
 */
export function nameTool(placed: Placed, text: string, leftOut: ReadonlySet<string>): ToolName | null {
  const { file, code } = placed;
  for (const row of TOOL_NAMES) {
    const fits = row.code === undefined || (code !== null && row.code.test(code));
    if (fits && (row.file?.test(file) ?? true) && (row.says?.test(text) ?? true) && !leftOut.has(row.tool))
      return row;
  }
  return null;
}
