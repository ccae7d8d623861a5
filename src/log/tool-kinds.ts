/** Tools whose errors mean that the project's code does not compile or type-check. */
export const COMPILERS = new RegExp(
  '^(?:javac|maven|maven-compiler|gradle|kotlin|kotlinc|scala|scalac|groovyc|tsc|typescript|' +
    String.raw`gcc|g\+\+|cc|clang|clang\+\+|c\+\+|msvc|cl|csc|msbuild|dotnet|compiler|swift|swiftc|rust|` +
    'rustc|cargo|go|go-build|go-vet|golang|ghc|elixir|erlang|python|php|ruby|mypy|pyright|' +
    String.raw`flow|vue-tsc|babel|esbuild|webpack|rollup|vite|ld|linker)\b`,
  'i',
);

/** Tools that check the style of source code. */
export const LINTERS = new RegExp(
  '^(?:eslint|ansible-lint|ruff|flake8|pylint|rubocop|golangci(?:-lint)?|checkstyle|pmd|' +
    'spotbugs|stylelint|ktlint|detekt|clippy|shellcheck|hadolint|biome|oxlint|clang-tidy|' +
    'phpstan|psalm|credo|swiftlint|staticcheck|markdownlint|codespell|xo|standard|' +
    String.raw`tslint|yamllint|luacheck|perlcritic|jshint|cppcheck)\b`,
  'i',
);

/**
 * Tools that only report on source code, each finding with its place. Their findings are not about a test,
 * even if tests ran at the same time.
 */
const CHECKS = new RegExp(
  String.raw`^(?:javac|maven-compiler|kotlinc?|scalac?|tsc|typescript|vue-tsc|gcc|g\+\+|clang|` +
    String.raw`clang\+\+|csc|swiftc?|rustc|go|go-build|go-vet|ghc|mypy|pyright|flow)$`,
  'i',
);

/** Tells whether a tool compiles or checks source code without running it. */
export function isCheck(tool: string): boolean {
  return CHECKS.test(tool) || isLinter(tool);
}

/** Tells whether a tool checks the style of source code. */
export function isLinter(tool: string): boolean {
  return LINTERS.test(tool);
}

/** Tells whether a linter exits with an error for any finding, whatever its severity. */
export function failsOnWarnings(tool: string): boolean {
  return /^(?:shellcheck|hadolint|pylint|rubocop|markdownlint|ansible-lint)$/i.test(tool);
}

/** Tells whether a tool resolves and installs dependencies. */
export function isPackageManager(tool: string): boolean {
  return /^(?:npm|pnpm|yarn|pip|uv|poetry|conda|bundler|composer|apt|apk|dnf|brew|choco|cocoapods|cpanm|luarocks|cabal|stack|nuget)$/.test(
    tool,
  );
}
