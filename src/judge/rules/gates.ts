import { LINTERS } from '../../log/tool-kinds.ts';
import { type RuleRow, ruleTable } from '../rule.ts';

/** Lint, format, licence and documentation gates: the code is there, but not as the project wants it. */
export const GATE_RULES: readonly RuleRow[] = ruleTable('CODE_ERROR', {
  'lint-diagnostic': {
    kind: 'lint_failure',
    strength: 4,
    patterns: [LINTERS],
    from: ['diagnostic'],
    matches: ["/build/src/scales.js\n  4:9  error  'pear' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)"],
    ignores: ["src/scales.ts:4:9: warning: 'pear' is not defined"],
  },
  'eslint-findings': {
    kind: 'lint_failure',
    strength: 4,
    patterns: [
      /✖ \d{1,6} problems? \((?!0 errors)/,
      /\d{1,6} errors? and \d{1,6} warnings?\)/,
      /(?:^|\s)\d{1,6}:\d{1,6}\s{1,4}error\s{1,4}\S/,
    ],
    matches: ["  4:9  error  'pear' is not defined  no-undef"],
    ignores: ['✖ 3 problems (0 errors, 3 warnings)', "  4:9  warning  'pear' is never used  no-unused-vars"],
  },
  'python-lint': {
    kind: 'lint_failure',
    strength: 3.5,
    patterns: [/^\S{1,240}\.py:\d{1,6}:\d{1,6}:? [A-Z]{1,4}\d{2,5}\b/, /^Your code has been rated at (?!10(?:\.0{1,2})?\/)/],
    matches: ['scales/weigh.py:4:9: F401 [*] `os` imported but unused'],
    ignores: ['E   scales/weigh.py:8:1: F401 imported but unused', 'Your code has been rated at 10.00/10'],
  },
  'static-analysis': {
    kind: 'lint_failure',
    strength: 4,
    patterns: [
      /(?:error|warning): .{1,400}\[(?:clang-(?:analyzer|diagnostic)|bugprone|modernize|readability|cppcoreguidelines|performance|misc)-/i,
      /You have [1-9]\d{0,5} (?:Checkstyle|PMD|SpotBugs|FindBugs) violation/i,
      /Checkstyle (?:rule )?violations/i,
      /PMD Failure/i,
      /^(?:\[\w{4,5}\] )?BugInstance size is [1-9]/i,
      /^[ =]{0,8}note: `-D [\w:-]{1,60}` implied by/i,
      /detekt.{0,40}(?:issues|failed)/i,
      /Architecture Violation.{0,200}/i,
      /\d{1,6} files? inspected, [1-9]\d{0,5} offenses? detected/i,
      /FOUND \d{1,6} ERRORS?(?: AND \d{1,6} WARNINGS?)? AFFECTING/i,
      /Execution failed for task '[^']{0,120}:(?:checkstyle|ktlint|detekt|pmd|spotbugs|lint)\w{0,40}'/i,
      /Lint found errors in the project/i,
      /subject may not be empty \[subject-empty\]/i,
      /\b(?:SC|DL)\d{4}\b ?\(?(?:error|warning|info|style)/i,
    ],
    matches: ['12 files inspected, 3 offenses detected', 'FOUND 3 ERRORS AFFECTING 2 LINES', "Execution failed for task ':scales:detekt'."],
    ignores: ['12 files inspected, no offenses detected'],
  },
  'not-formatted': {
    kind: 'formatting_failure',
    strength: 4.5,
    patterns: [
      /^(?:would reformat|[1-9]\d{0,5} files? would be reformatted)/i,
      /^(?:prettier: |\[warn\] )?Code style issues (?:found|were found)/i,
      /files? (?:is|are) not (?:properly )?formatted/i,
      /The following files had format violations/i,
      /Run '.{0,80}spotlessApply' to fix these violations/i,
      /imports are incorrectly sorted/i,
      /^\W{0,6}Formatter would have printed/i,
      /not gofmt|gofmt (?:needs|check)|isn't formatted|needs formatting|Incorrect formatting/i,
      /^Diff in \S{1,200}(?: at line |:)\d/i,
      /File content differs from formatting output/i,
      /^\W{0,4}files were modified by this hook/i,
      /(?:error|violations): code should be clang-formatted/i,
      /mix format failed/i,
      /^Found [1-9]\d{0,5} of \d{1,6} files that can be fixed/i,
      /Execution failed for task '[^']{0,120}spotless\w{0,40}Check'/i,
    ],
    matches: [
      'would reformat src/scales.py\n1 file would be reformatted.',
      'src/scales.c:4:9: error: code should be clang-formatted [-Wclang-format-violations]',
      '- files were modified by this hook',
    ],
    ignores: ['Prettier would be run by the editor', '12 files would be left unchanged.', 'All matched files use Prettier code style!'],
  },
  'licence-header': {
    kind: 'lint_failure',
    strength: 4,
    patterns: [
      /Too many files with unapproved licen[cs]e/i,
      /(?:licen[cs]e|copyright) header.{0,40}(?:missing|invalid|wrong|not found)/i,
      /Missing (?:licen[cs]e )?header in/i,
      /Some files do not have the expected licen[cs]e header/i,
      /is not compliant with version [\d.]{1,8} of the REUSE/i,
    ],
    matches: ['Too many files with unapproved license: 3 See RAT report'],
    ignores: ['License header check ... ok'],
  },
  'generated-out-of-date': {
    kind: 'lint_failure',
    strength: 2.5,
    patterns: [
      /(?:generated (?:files?|code|docs?)|working tree|API files?) .{0,60}(?:out of date|not up to date|is dirty|has uncommitted|differ)/i,
      /please (?:run|commit).{0,60}(?:and commit|generated)/i,
      /binary incompatib/i,
      /have changes that are not yet reflected in a migration/i,
      /API (?:check|surface) .{0,20}(?:failed|changed)/i,
    ],
    matches: ['The generated files are out of date. Please run make generate.'],
    ignores: ['Generated files are up to date.'],
  },
});

/** Measured values that the project wants, and what the process asks of a change (TAXONOMY, ties 8 and 9). */
export const PROCESS_RULES: readonly RuleRow[] = ruleTable('CONFIG_ERROR', {
  'threshold-missed': {
    category: 'TEST_FAILURE',
    kind: 'threshold',
    strength: 3.5,
    patterns: [
      /\b(?:coverage|mutation score)\b.{0,80}(?:below|less than|lower than|does not meet|under|failure:|not met|not reached|decreased)/i,
      /\b(?:bundle|file|image|package|asset)s? (?:size )?.{0,60}(?:exceeds?|larger than|over|above) .{0,30}(?:limit|budget|threshold|maximum)/i,
      /\b(?:thresholds?|budgets?)\b.{0,60}(?:not met|exceeded|crossed|missed)/i,
    ],
    matches: ['Jest: "global" coverage threshold for lines (80%) not met: 71.5%'],
    ignores: ['Coverage: 91.5% (threshold 80% met)'],
  },
  'process-gate': {
    kind: 'process_gate',
    strength: 4,
    patterns: [
      /\b(?:PR|MR|pull request|merge request)(?:'s)? (?:title|description|body|branch)\b.{0,100}(?:should|must|does not|doesn't|invalid|is not|needs)/i,
      /\b(?:changelog|changeset|news fragment|release notes?)\b.{0,60}(?:missing|required|not found|must be|was not|has not)/i,
      /\b(?:missing|no|add an?|without an?) .{0,30}(?:changelog entry|changeset|news fragment|release note)/i,
      /\b(?:missing|requires?|required|needs?) .{0,30}\blabels?\b/i,
      /\b(?:missing|no|without) .{0,20}Signed-off-by\b/i,
      /\b(?:CLA|contributor licen[cs]e agreement)\b.{0,60}(?:not signed|unsigned|must sign|needs to sign)/i,
      /\b(?:requires?|needs?|at least) \d{1,2} (?:more )?(?:approv|review)/i,
    ],
    matches: ['The PR title does not follow the convention: type(scope): subject'],
    ignores: ['PR title: Weigh the pears'],
  },
  'upstream-job': {
    kind: 'upstream_job',
    strength: 4,
    patterns: [
      /\b(?:some|one or more|at least one|not all)\b.{0,30}\b(?:required|upstream|dependent|needed|dependency|prerequisite)\b.{0,30}\b(?:jobs?|checks?|workflows?|builds?)\b.{0,60}(?:failed|not succeed|did not pass|unsuccessful|not successful)/i,
      /\b(?:upstream|required|previous|dependent) (?:jobs?|checks?|workflows?|builds?)\b.{0,40}(?:failed|was cancell?ed|did not succeed|were not successful)/i,
    ],
    matches: ['Error: upstream job weigh failed'],
    ignores: ['Triggering the upstream job weigh', 'All required jobs succeeded.'],
  },
});
