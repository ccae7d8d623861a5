import { type Rule, ruleTable } from '../rule.ts';

/** Lint, format, licence and documentation gates: the code is there, but not as the project wants it. */
export const GATE_RULES: readonly Rule[] = ruleTable({ category: 'CODE_ERROR' }, [
  [
    'lint-diagnostic',
    'lint_failure',
    4,
    /^(?:eslint|ruff|flake8|pylint|rubocop|golangci(?:-lint)?|checkstyle|pmd|spotbugs|stylelint|ktlint|detekt|clippy|shellcheck|hadolint|biome|oxlint|clang-tidy|phpstan|psalm|credo|swiftlint|staticcheck|markdownlint|codespell|xo|standard|tslint): /i,
    { from: ['diagnostic'] },
  ],
  [
    'eslint-findings',
    'lint_failure',
    4,
    /✖ \d{1,6} problems? \(|\d{1,6} errors? and \d{1,6} warnings?\)|(?:^|\s)\d{1,6}:\d{1,6}\s{1,4}error\s{1,4}\S/,
  ],
  ['python-lint', 'lint_failure', 3.5, /\.py:\d{1,6}:\d{1,6}:? [A-Z]{1,4}\d{2,5}\b|Your code has been rated at/],
  [
    'static-analysis',
    'lint_failure',
    4,
    /\[clang-(?:analyzer|diagnostic)-|\[(?:bugprone|modernize|readability|cppcoreguidelines|performance|misc)-[\w-]{1,60}\]|You have \d{1,6} (?:Checkstyle|PMD|SpotBugs|FindBugs)|Checkstyle (?:rule )?violations|PMD Failure|BugInstance size is|clippy::|-D warnings|detekt.{0,40}(?:issues|failed)|golangci-lint.{0,60}(?:issues|exit)|Architecture Violation.{0,200}/i,
  ],
  [
    'style-violation',
    'lint_failure',
    2.5,
    /lint(?:ing)? (?:failed|errors?|issues? found)|There (?:is|are) \d{1,5} (?:style|lint) (?:error|violation)/i,
  ],
  [
    'not-formatted',
    'formatting_failure',
    4.5,
    /would (?:be )?reformat(?:ted)?|would be left unchanged.{0,20}reformat|Code style issues (?:found|were found)|Run Prettier|files? (?:is|are) not (?:properly )?formatted|The following files had format violations|Run '?\S{0,80}spotlessApply|imports are incorrectly sorted|formatter would have printed|not gofmt|gofmt (?:needs|check)|(?:^|\n)Diff in \S{1,200}(?: at line |:)\d|Incorrect formatting|isn't formatted|needs formatting|File content differs from formatting output|code-format/i,
  ],
  [
    'licence-header',
    'lint_failure',
    4,
    /Too many files with unapproved licen[cs]e|(?:licen[cs]e|copyright) header.{0,40}(?:missing|invalid|wrong|not found)|Missing (?:licen[cs]e )?header in|Some files do not have the expected licen[cs]e header/i,
  ],
  [
    'generated-out-of-date',
    'lint_failure',
    2.5,
    /(?:generated (?:files?|code|docs?)|working tree|API files?) .{0,60}(?:out of date|not up to date|is dirty|has uncommitted|differ)|please (?:run|commit).{0,60}(?:and commit|generated)|binary incompatib|API (?:check|surface) .{0,20}(?:failed|changed)/i,
  ],
  [
    'coverage-gate',
    'lint_failure',
    2.5,
    /coverage.{0,60}(?:below|less than|does not meet|under|failure:)|Coverage checks have not been met/i,
  ],
]);
