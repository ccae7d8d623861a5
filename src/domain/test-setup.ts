/**
 * Which changes alter how tests run, so that a failing test could "pass" without its failure being fixed.
 * Files are recognized by name. In files that also hold other things, a change may touch only lines that pin
 * a dependency or are known not to be test settings. Pure, because the service checks changes that were tried
 * elsewhere again.
 */

/**
 * A changed line of a diff, and the section of the file that contains it. The section is null if the diff
 * does not show it.
 */
interface ChangedLine {
  readonly text: string;
  readonly section: string | null;
  /** True after the beginning of Rust's own tests in the file. */
  readonly isInTests: boolean;
}

/** The maximum length of a file name and of a line that can be known to be harmless, in characters. */
const MAX_TEXT = 120;

/**
 * Returns true if a change of a file alters how tests run. `diff` is the file's part of a unified diff; more
 * context makes the result more precise.
 */
export function changesHowTestsRun(path: string, diff: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.length > MAX_TEXT || RUNS_TESTS.some((pattern) => pattern.test(name))) return true;
  if (RUNS_TESTS_FROM.test(path) || INSTALLED.test(path)) return true;
  const lines = listChangedLines(diff);
  if (lines.some(({ text }) => RUNNER_SETTING.test(text))) return true;
  if (name.endsWith('.rs')) return lines.some(({ isInTests }) => isInTests);
  const kind = MIXED.find(({ files }) => files.test(name));
  return kind !== undefined && !lines.every((line) => line.text.trim() === '' || kind.isHarmless(line));
}

/** The names of files that only determine how tests run. */
const RUNS_TESTS: readonly RegExp[] = [
  // Tests that do not have the usual names of folders and files.
  new RegExp(
    String.raw`^(?:tests?\.\w{1,8}|test[-.].*|.*[-_.](?:test|spec)[-_.].*|` +
      String.raw`(?:[\w-]*[-_])?tests?\.(?:sh|bash|ps1|bat|cmd)|setup[-_.]?tests?\..*)$`,
  ),
  // JavaScript: configurations of test runners, their compilers, workspaces, and the programs that start
  // scripts.
  new RegExp(
    '^(?:(?:jest|vitest|vite|playwright|karma|cypress|ava|wdio|nightwatch|babel|nyc|' +
      'web-test-runner|rstest)[-.](?:config|conf|setup|workspace).*)$',
  ),
  new RegExp(
    String.raw`^(?:vitest\..*|\.mocharc.*|\.taprc|\.nycrc.*|\.c8rc.*|\.babelrc.*|\.swcrc|` +
      String.raw`jasmine\.(?:json|js)|bunfig\.toml|deno\.jsonc?)$`,
  ),
  new RegExp(
    String.raw`^(?:(?:nx|project|turbo|lerna|rush|angular|workspace)\.json|moon\.ya?ml|[Gg]ulpfile.*|` +
      String.raw`[Gg]runtfile.*|\.yarnrc.*|\.pnpmfile\.[cm]?js|pnpm-workspace\.yaml)$`,
  ),
  // Python, including modules that would shadow one of Python's own.
  new RegExp(
    String.raw`^(?:conftest\.py|\.?pytest\.(?:ini|toml)|tox\.(?:ini|toml)|noxfile\.py|\.coveragerc|` +
      String.raw`hatch\.toml|(?:run_?tests?|tasks|dodo|pavement)\.py)$`,
  ),
  /^(?:(?:pytest|_pytest|pluggy|unittest|nose|sitecustomize|usercustomize|pytest_\w+)\.py|.*\.pth)$/,
  // Make and similar tools.
  new RegExp(
    String.raw`^(?:(?:GNU)?[Mm]akefile.*|.*\.mk|\.?[Jj]ustfile|[Tt]askfile.*\.ya?ml|` +
      String.raw`Rakefile|.*\.rake|Guardfile|CTest\w*\.cmake)$`,
  ),
  // JVM, .NET, Ruby, PHP, Go, Dart.
  new RegExp(
    String.raw`^(?:gradlew(?:\.bat)?|mvnw(?:\.cmd)?|settings\.gradle(?:\.kts)?|init\.gradle.*|` +
      String.raw`gradle\.properties|\.bazelrc|\.bazelversion|testng.*\.xml|junit-platform\.properties)$`,
  ),
  new RegExp(
    String.raw`^(?:.*\.runsettings|xunit\.runner\.json|Directory\.Build\.(?:props|targets)|\.rspec.*|` +
      String.raw`phpunit.*\.xml.*|pest\.php|codeception\.ya?ml|behat\.ya?ml|` +
      String.raw`dart_test\.yaml|nextest\.toml)$`,
  ),
];
const RUNS_TESTS_FROM = new RegExp(
  String.raw`(?:^|/)(?:\.cargo|\.config|\.mvn|\.moon|\.yarn|gradle/wrapper|buildSrc|patches|_?pytest|` +
    String.raw`pluggy|unittest|[a-z]\w*Tests?|\w+\.Tests?|Tests?|Specs?)/`,
);
/** The folders of installed dependencies. The test runner is one of them. */
const INSTALLED = /(?:^|\/)(?:node_modules|\.venv|venv|site-packages|vendor|third_party)\//;

/** The settings that alter how tests run, in whatever file they appear. */
const RUNNER_SETTING = new RegExp(
  String.raw`\b(?:pytest_plugins|PYTEST_(?:ADDOPTS|PLUGINS|DISABLE_PLUGIN_AUTOLOAD)|` +
    'pytest11|TEST_RUNNER|NODE_OPTIONS|NODE_TEST_CONTEXT|RUBYOPT|' +
    String.raw`JAVA_TOOL_OPTIONS|GOFLAGS)\b|\bdef pytest_\w+\s*\(`,
);

interface MixedFile {
  /** The pattern of the file's name. */
  readonly files: RegExp;
  readonly isHarmless: (line: ChangedLine) => boolean;
}

/**
 * The pattern of a dependency that comes from another place than the registry entry of its name, such as a
 * path, a URL, a git repository or an alias.
 */
const ELSEWHERE = /\b(?:path|git|url|file|link|portal|npm|patch|https?)\s*[:=]|git\+|=>/;
const COMMENT = /^\s*(?:#|\/\/|;)/;

const MIXED: readonly MixedFile[] = [
  { files: /^(?:package|composer)\.json$/, isHarmless: createMatcher(buildNpmLine()) },
  {
    files: /^(?:pyproject|Pipfile|Cargo)(?:\.toml)?$/,
    isHarmless: matchSections(
      new RegExp(
        String.raw`^(?:project(?:\.optional-dependencies|\.urls)?|dependency-groups|build-system|` +
          String.raw`tool\.poetry(?:\.dependencies|\.dev-dependencies|\.group\.[\w-]+\.dependencies)|` +
          String.raw`tool\.(?:ruff|black|isort|mypy|pyright|flake8|bandit|setuptools|setuptools_scm)` +
          String.raw`(?:\..*)?|packages|dev-packages|requires|(?:target\..*\.|workspace\.)?(?:dev-|` +
          String.raw`build-)?dependencies(?:\..*)?|features|package|lints(?:\..*)?)$`,
      ),
    ),
  },
  {
    files: /^setup\.cfg$/,
    isHarmless: matchSections(
      /^(?:metadata|options|options\.extras_require|options\.package_data|flake8|isort|mypy.*|bdist_wheel)$/,
    ),
  },
  { files: /^setup\.py$/, isHarmless: ({ text }) => !/entry_points|cmdclass|test/i.test(text) },
  {
    files: /^pom\.xml$/,
    isHarmless: createMatcher(
      /^\s*<(?!.*(?:surefire|failsafe|plugin|skip|test\.))(?:\/?(?:dependency|dependencies|dependencyManagement|exclusions?|parent|properties)>|(groupId|artifactId|scope|type|classifier|optional)>[\w.-]+<\/\1>|([\w.-]*version[\w.-]*)>[\w.${}-]+<\/\2>)\s*$/i,
    ),
  },
  {
    files: /\.gradle(?:\.kts)?$/,
    isHarmless: createMatcher(
      new RegExp(
        String.raw`^\s*(?:api|implementation|compileOnly|runtimeOnly|annotationProcessor|kapt|ksp|` +
          String.raw`testImplementation|version|group)\b[\s(=]*["'][\w.:@+-]+["']\)?\s*$`,
      ),
    ),
  },
  {
    files: /\.(?:sbt|bazel)$|^(?:BUILD|WORKSPACE|mix\.exs)$/,
    isHarmless: createMatcher(
      new RegExp(
        String.raw`^\s*(?:"(?:@[\w.~-]*)?(?://[\w./-]*)?:?[\w./-]*[:/][\w./-]*",?|` +
          String.raw`"[^"]+"\s+%%?\s+"[^"]+"\s+%\s+"[\d.]+",?|\{:\w+, "[~>=\s\d.]+"\},?)\s*$`,
      ),
    ),
  },
  {
    files: /^(?:Gemfile|.*\.gemspec)$/,
    isHarmless: createMatcher(
      /^\s*(?:gem|\w+\.add_(?:\w+_)?dependency)\b[\s(]*["'][\w-]+["'](?:,\s*["'][~><=!\s\d.]+["'])*\)?\s*$/,
    ),
  },
  { files: /^(?:go\.mod|go\.work)$/, isHarmless: ({ text }) => !/=>|^\s*(?:replace|use|tool)\b/.test(text) },
  {
    files: /\.(?:cs|fs|vb)proj$/,
    isHarmless: createMatcher(
      /^\s*<(?:PackageReference|TargetFrameworks?|LangVersion|Nullable)\b[^<]*(?:\/>|<\/\w+>)\s*$/,
    ),
  },
  { files: /^(?:CMakeLists\.txt|.*\.cmake|meson\.build)$/, isHarmless: ({ text }) => !/test/i.test(text) },
  {
    files: /^(?:[\w.-]*Dockerfile[\w.-]*|[\w.-]*Containerfile)$/,
    isHarmless: ({ text }) => !/^\s*(?:CMD|ENTRYPOINT|SHELL)\b|test/i.test(text),
  },
  {
    files: /^(?:docker-)?compose[\w.-]*\.ya?ml$/,
    isHarmless: ({ text }) => !/^\s*(?:command|entrypoint)\s*:|test/i.test(text),
  },
  // Files of Django and Rails.
  { files: /^(?:manage\.py|test_settings\.py)$/, isHarmless: () => false },
];

/**
 * Builds the pattern of a harmless line in package.json or composer.json: a dependency with its version, a
 * field that no test runner reads, or the braces around added or removed lines.
 */
function buildNpmLine(): RegExp {
  const version = String.raw`(?:[\^~<>=v*\d][\w.*^~<>=|\s+-]*|latest|next|workspace:[\^~*])`;
  const fields =
    '"(?:(?:dev|peer|optional)?[dD]ependencies|require(?:-dev)?|resolutions|' +
    String.raw`overrides|engines)"\s*:\s*\{(?:\s*\})?`;
  const plain =
    '"(?:name|description|version|license|main|module|types|typings|author|homepage|private|' +
    String.raw`sideEffects)"\s*:\s*(?:"[^"]*"|true|false)|"type"\s*:\s*"(?:module|commonjs)"`;
  return new RegExp(
    `^\\s*(?:[{}]|${fields}|${plain}|"(?:@[a-z\\d._~-]+/)?[a-z\\d][a-z\\d._/~-]*"\\s*:\\s*"${version}"),?\\s*$`,
  );
}

function createMatcher(pattern: RegExp): MixedFile['isHarmless'] {
  return ({ text }) => text.length <= MAX_TEXT && (COMMENT.test(text) || pattern.test(text));
}

function matchSections(pattern: RegExp): MixedFile['isHarmless'] {
  return ({ text, section }) =>
    COMMENT.test(text) ||
    (section !== null &&
      pattern.test(section) &&
      !ELSEWHERE.test(text) &&
      !/\bautotests\b|entry.points|scripts/.test(text));
}

/**
 * Reads the name in a header such as `[tool.ruff]` or `[[bin]]`. Returns null if the line is not a header.
 */
function readSection(text: string): string | null {
  const name = /^\s{0,8}\[{1,2}([^[\]]{1,100})\]/.exec(text)?.[1];
  return name === undefined ? null : name.replaceAll(/["']/g, '').trim();
}

/**
 * Returns the changed lines, each with the section that the last header before it opened. The section is null
 * for a hunk that begins in the middle of a file.
 */
function listChangedLines(diff: string): ChangedLine[] {
  const lines: ChangedLine[] = [];
  let [section, isInHunk, isInTests]: [string | null, boolean, boolean] = [null, false, false];
  for (const line of diff.split('\n')) {
    const start = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (start !== null) {
      [isInHunk, isInTests] = [true, false];
      section = Math.max(Number(start[1]), Number(start[2])) <= 1 ? '' : null;
      continue;
    }
    if (!isInHunk) continue;
    const text = line.slice(1);
    section = readSection(text.slice(0, MAX_TEXT)) ?? section;
    isInTests ||= /^\s*#\[(?:cfg\(test\)|(?:\w+::)*test\b)/.test(text);
    if (/^[+-]/.test(line)) lines.push({ text, section, isInTests });
  }
  return lines;
}
