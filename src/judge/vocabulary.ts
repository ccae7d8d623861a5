/** Tools whose errors mean that code of ours does not compile or type-check. */
export const COMPILERS =
  /^(?:javac|maven|maven-compiler|gradle|kotlin|kotlinc|scala|scalac|groovyc|tsc|typescript|gcc|g\+\+|cc|clang|clang\+\+|c\+\+|msvc|cl|csc|msbuild|dotnet|compiler|swift|swiftc|rust|rustc|cargo|go|go-build|go-vet|golang|ghc|elixir|erlang|python|php|ruby|mypy|pyright|flow|vue-tsc|babel|esbuild|webpack|rollup|vite|ld|linker)\b/i;

/** Words with which test frameworks state that an expectation did not hold. */
export const ASSERTION_WORDS =
  /\bassert(?:ion)?(?:\s?error|failed|ionfailed| failed| failure)\b|AssertionFailedError|ComparisonFailure|\bMultipleFailuresError\b|\bassert_\w{2,40}:|\bpromise_rejects_\w{2,20}:|^E?\s*assert\b|\bexpect(?:ed)?\b[^\n]{0,200}\b(?:but|got|to (?:be|equal|have|contain|match|throw|include)|actual|received|was|found)\b|\bexpect\([^)\n]{0,80}\)\.|\bto(?:Equal|Be|StrictEqual|MatchSnapshot|Contain|Have\w{1,30})\(|ExpectationNotMet|left == right|\bAssertionError\b|DID NOT RAISE|\bnot equal\b|does not match (?:stored |the )?snapshot|ExpectationFailed/i;

/** Words that point to machine, network or set-up rather than to product code, even where an exception carries them. */
export const ENVIRONMENT_WORDS =
  /\bfetch failed\b|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ENOSPC|EHOSTUNREACH|connection (?:refused|reset|timed out|closed)|connect(?:ion)? timed? ?out|UnknownHost|name or service not known|name resolution|no space left|out of ?memory|terminated with signal 9|Killed signal terminated|compiler error: Killed|OutOfMemory|MemoryError|cannot allocate memory|\b50[234]\b[^\n]{0,40}(?:unavailable|gateway|error)|service unavailable|too many requests|rate limit|no such host|network is unreachable|operation not permitted|permission denied|EACCES|No such module|No module named|Cannot find module|ModuleNotFound|NoSuchMethodError|NoClassDefFoundError|ClassNotFoundException|cannot open shared object|hudson\.|Backing channel/i;

/** The narrower form, for lines that no extractor tied to a test. */
export const ASSERTION_FAILED =
  /\bAssertion(?:Failed)?Error\b|assertion `?(?:left|failed)|assertion failed|\bexpected\b.{1,160}\bbut (?:was|got|received|found)\b/i;

/** How compilers and parsers begin; what they "expected but found" is no expectation of a test. */
export const COMPILER_BEGINS = /^(?:[✘X] \[ERROR\] |(?:Parse|Parsing|Syntax) ?[Ee]rror\b|\S{1,300}:\d{1,6}:\d{1,6}: error: )/;

/** Tools that check how source is written. */
export const LINTERS =
  /^(?:eslint|ruff|flake8|pylint|rubocop|golangci(?:-lint)?|checkstyle|pmd|spotbugs|stylelint|ktlint|detekt|clippy|shellcheck|hadolint|biome|oxlint|clang-tidy|phpstan|psalm|credo|swiftlint|staticcheck|markdownlint|codespell|xo|standard|tslint|yamllint|luacheck|perlcritic|jshint|cppcheck)\b/i;

/** Tools that read source and never run it: what they say they expected is no expectation of a test. */
export const SOURCE_READERS =
  /^(?:javac|kotlinc?|scalac?|groovyc|tsc|typescript|vue-tsc|gcc|g\+\+|cc|clang|clang\+\+|c\+\+|msvc|cl|csc|swiftc?|rustc?|ghc|compiler|mypy|pyright|flow|babel|esbuild|webpack|rollup|vite)\b/i;

/** Such tools whose form no test framework borrows, with a column or without. */
export const BUNDLERS = /^(?:babel|esbuild|webpack|rollup|vite)\b/i;

/** What test frameworks write in the form of a compiler's error. */
export const BORROWED_FORM =
  /\bXCTAssert|\bhas failed\b|\bassert(?:ion)?\w{0,20} failed\b|\bExpectation failed\b|\bAssertion(?:Failed)?Error\b/i;
