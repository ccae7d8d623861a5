import { stripEscapes } from '../../log/lines/clean.ts';

/**
 * Names that readers can act on, in advice or in a known fix. The rules are about spelling, not about tools,
 * so that all texts are read alike:
 *
 * - `path`: contains a slash or a file extension, or begins with a dot ("src/app.ts", "go.mod", ".npmrc");
 *
 * - `version`: numbers joined by dots, or a number after a product or the word "version" ("3.8.1", "Node
 * 22");
 *
 * - `variable`: capitals joined by underscores, or a name after a dollar sign ("NPM_TOKEN", "$HOME");
 *
 * - `command`: an option, or a known program with its subcommand ("--fix", "cargo fmt");
 *
 * - `package`: a scoped or hyphenated name, or what follows "install", "add", "upgrade" and the like
 * ("@types/node", "libxml2-dev");
 *
 * - `symbol`: a name in the notation of code ("loadFavorites", "provider_id", "auth.identities",
 * "connect()").
 *
 * URLs and masked values (`***`, `<HOST_1>`) are not names.
 */
export interface Identifier {
  readonly kind: 'path' | 'version' | 'variable' | 'command' | 'package' | 'symbol';
  readonly value: string;
}

/** The maximum number of characters of a text. Advice is shorter. */
const MAX_TEXT = 8_000;
const NOT_NAMES = /\bhttps?:\/\/\S+|\*{3,}|<(?:EMAIL|HOST)(?:_\d{1,9})?>/g;
const EXTENSION =
  'astro|bat|bazel|c|cc|cfg|cjs|cmake|conf|cpp|cs|csproj|css|csv|dart|ex|exs|gemspec|go|gradle|groovy|h|hpp|html|ini|java|jl|js|json|jsx|kt|kts|' +
  'lock|lua|m|md|mjs|mk|mod|php|pl|ps1|py|r|rb|rs|rst|scala|sh|sln|sql|sum|svelte|swift|tf|toml|ts|tsx|txt|vue|xml|ya?ml';
const PRODUCT = 'version|node|node\\.js|python|java|jdk|go|ruby|php|rust|dotnet|\\.net|xcode|gradle';
const PATTERNS: readonly (readonly [Identifier['kind'], RegExp])[] = [
  ['package', /(?<![\w/])@[a-z0-9][\w.-]{0,60}\/[\w.-]{0,59}\w/gi],
  ['path', /(?<![\w@])(?:[\w@.$-]{1,80}\/){1,12}[\w@.$-]{0,60}\w/g],
  ['path', new RegExp(`(?<![\\w/.-])[\\w.-]{0,80}\\w\\.(?:${EXTENSION})(?![\\w/-])`, 'gi')],
  ['path', /(?<![\w/.])\.[a-z][\w-]{2,40}(?:\.[\w-]{1,20})?/g],
  ['path', /(?<![\w/.])(?:Dockerfile|Makefile|Gemfile|Jenkinsfile|Procfile|Rakefile|CMakeLists\.txt)(?!\w)/g],
  ['version', /(?<![\w.])v?\d{1,6}(?:\.\d{1,9}){1,4}(?:[-+][\w.]{0,20}\w)?(?![\w])/g],
  ['version', new RegExp(`(?<=\\b(?:${PRODUCT})(?::| |@|>=){1,3})v?\\d{1,4}(?![\\w]|\\.\\w)`, 'gi')],
  ['variable', /(?<![\w/])[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,10}(?!\w)/g],
  ['variable', /(?<=\$\{?)[A-Za-z_]\w{1,60}/g],
  ['command', /(?<![\w-])--[a-z][\w-]{1,40}/gi],
  ['symbol', /(?<![\w/.-])[a-z]\w{0,60}[a-z0-9][A-Z]\w{0,60}(?![\w/]|\.\w)/g],
  ['symbol', /(?<![\w/.-])[A-Z][a-z0-9]{1,40}[A-Z]\w{0,60}(?![\w/]|\.\w)/g],
  ['symbol', /(?<![\w/.-])_{0,2}[a-z]\w{0,40}_\w{1,60}(?![\w/]|\.\w)/g],
  ['symbol', /(?<![\w/.-])[A-Za-z_]\w{1,60}(?=\(\))/g],
  ['symbol', /(?<![\w/.-])[A-Za-z_]\w{1,40}(?:(?:\.|::)[A-Za-z_]\w{1,40}){1,6}(?![\w/])/g],
  ['package', /(?<![\w/.@-])[a-z][a-z0-9]{1,30}(?:-[a-z0-9]{1,30}){1,5}(?![\w/-]|\.\w)/g],
];
/** Programs with subcommands. */
const COMMAND = new RegExp(
  '(?<![\\w/-])(?:apt-get|apt|brew|bundle|cargo|composer|dart|docker|dotnet|flutter|gh|git|go|gradle|helm|kubectl|mix|mvn|npm|pip|pnpm|' +
    'poetry|ruff|terraform|tofu|uv|yarn) ' +
    '(?!(?:a|an|and|in|is|it|its|line|or|repository|says|step|suggests|that|the|this|to|version|with)\\b)[a-z][\\w:-]{1,30}',
  'g',
);
const PUT =
  /\b(?:add|adds|declare|downgrade|install|pin|raise|remove|upgrade|update|bump)(?:ing)?\s+[`"“]?([A-Za-z][\w.+-]{2,40})/gi;
/** Programs without subcommands. */
const PROGRAM = new RegExp(
  '(?<![\\w/-])(?:biome|black|clang-format|clang-tidy|cmake|eslint|flake8|gofmt|golangci-lint|hadolint|isort|jest|mypy|prettier|pylint|' +
    'pytest|rubocop|rustfmt|shellcheck|tsc|vitest)(?![\\w-])',
  'gi',
);
/** Hyphenated English words, and words after "add" and "install" that are not a name. */
const ENGLISH = new RegExp(
  '^(?:(?:re|non|pre|auto|co|self|so|well|one|two|long|up|opt|sub|un|no|in|out|multi|cross)-.*|' +
    '.*-(?:to|only|in|out|up|side|wide|off|level|line|time|quality|safe|fix|fixable|run|existing|date|based)|' +
    'a|all|an|and|another|any|both|checks?|code|commands?|dependency|dependencies|each|either|error|entries|exports?|fields?|files?|for|from|' +
    'imports?|it|its|licence|missing|null|one|only|or|our|packages?|step|such|tests?|that|the|their|them|these|this|those|timeout|to|true|' +
    'types?|until|unused|version|what|when|where|with|your)$',
  'i',
);

/** Finds the names in a text, each once, sorted by kind. */
export function findIdentifiers(text: string): Identifier[] {
  const plain = text.slice(0, MAX_TEXT).replace(NOT_NAMES, ' ');
  const found = new Map<string, Identifier>();
  const add = (kind: Identifier['kind'], match: string) => {
    const value = match.replace(/^[`"“]{1,10}|[.,;:`"”]{1,10}$/g, '');
    if (value.length > 1 && !ENGLISH.test(value) && !found.has(value)) found.set(value, { kind, value });
  };
  for (const [kind, pattern] of PATTERNS)
    for (const [match] of plain.matchAll(pattern)) if (!isWordPair(kind, match)) add(kind, match);
  for (const pattern of [COMMAND, PROGRAM])
    for (const [match] of plain.matchAll(pattern)) add('command', match);
  for (const [, name = ''] of plain.matchAll(PUT)) add('package', name);
  return [...found.values()];
}

/** Checks whether a match is two English words with a slash, not a path: "and/or", "flags/labels". */
function isWordPair(kind: Identifier['kind'], match: string): boolean {
  return (
    kind === 'path' &&
    /^[a-z]+(?:\/[a-z]+){1,3}$/i.test(match) &&
    !/^(?:src|test|tests|lib|docs|app|packages)\//.test(match)
  );
}

/** Creates a function that looks up names in texts, ignoring colors, case and kinds of path separators. */
export function createLookup(texts: readonly string[]): (identifier: Identifier) => boolean {
  const folded = texts.map(fold);
  return (identifier) => {
    const wanted = listSpellings(identifier).map(fold);
    return folded.some((text) => wanted.some((value) => areKnownLines(text, value)));
  };
}

/**
 * Lists the spellings of a name. A path also counts by its file name, because logs and people use other
 * roots.
 */
function listSpellings({ kind, value }: Identifier): string[] {
  if (kind === 'version') return [value.replace(/^v/i, '')];
  const base = value.slice(value.lastIndexOf('/') + 1);
  return kind === 'path' && /\.\w+$/.test(base) ? [base] : [value];
}

function fold(text: string): string {
  return stripEscapes(text).replaceAll('\\', '/').toLowerCase();
}

/**
 * Checks whether a text contains a value as a whole: with no letter, digit or underscore next to it, and no
 * further digits of a version. "v1.2" contains 1.2.
 */
function areKnownLines(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) {
    const [before, after] = [
      text.slice(Math.max(0, at - 2), at),
      text.slice(at + value.length, at + value.length + 2),
    ];
    const isVersion = /^\d/.test(value) && /(?:^|\W)v$/.test(before);
    if ((isVersion || !/\w$|\d\.$/.test(before)) && !/^\w|^\.\d/.test(after)) return true;
  }
  return false;
}
