import { LINTERS } from '../../log/tool-kinds.ts';
import { defineRules, type RuleRow } from '../rule.ts';

/** Rules for checks of formatting, style, licenses and documentation. */
export const GATE_RULES: readonly RuleRow[] = defineRules('CODE_ERROR', {
  'lint-diagnostic': {
    kind: 'lint_failure',
    strength: 4,
    patterns: [LINTERS],
    from: ['diagnostic'],
    matches: [
      "/build/src/scales.js\n  4:9  error  'pear' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)",
    ],
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
    reads: [
      /(?<=^|\s)(?<position>\d{1,6}:\d{1,6}) {1,4}error {1,4}(?<finding>\S.{4,140}?) {2,20}(?<broken>[\w@/-]{3,60})$/,
    ],
    title: '{finding} ({broken})',
    matches: ["  4:9  error  'pear' is not defined  no-undef"],
    ignores: ['✖ 3 problems (0 errors, 3 warnings)', "  4:9  warning  'pear' is never used  no-unused-vars"],
    says: [
      {
        log: "##[group]Run npx eslint .\nnpx eslint .\n##[endgroup]\n\n/build/src/scales.js\n  4:9  error  'pear' is never reassigned. Use 'const' instead  prefer-const\n  9:1  error  'plum' is not defined  no-undef\n\n✖ 2 problems (2 errors, 0 warnings)\n  1 error and 0 warnings potentially fixable with the `--fix` option.\n\n##[error]Process completed with exit code 1.",
        title: "/build/src/scales.js:4: 'pear' is never reassigned. Use 'const' instead",
        cause:
          "eslint reports 2 errors. The first is at /build/src/scales.js:4: “'pear' is never reassigned. " +
          "Use 'const' instead” (prefer-const). The other is “'plum' is not defined” (line 9).",
        fix: 'Run `npx eslint . --fix` and commit the result; 1 of the 2 errors is fixable.',
      },
    ],
  },
  'python-lint': {
    kind: 'lint_failure',
    strength: 3.5,
    patterns: [
      /^\S{1,240}\.py:\d{1,6}:\d{1,6}:? [A-Z]{1,4}\d{2,5}\b/,
      /^Your code has been rated at (?!10(?:\.0{1,2})?\/)/,
    ],
    matches: ['scales/weigh.py:4:9: F401 [*] `os` imported but unused'],
    ignores: ['E   scales/weigh.py:8:1: F401 imported but unused', 'Your code has been rated at 10.00/10'],
    says: [
      {
        log: '##[group]Run ruff check .\nruff check .\n##[endgroup]\nscales/weigh.py:4:8: F401 [*] `os` imported but unused\nFound 2 errors.\n[*] 1 fixable with the `--fix` option.\n##[error]Process completed with exit code 1.',
        title: 'scales/weigh.py:4: `os` imported but unused',
        cause: 'The linter reports an error at scales/weigh.py:4: “`os` imported but unused” (F401).',
        fix: 'Run `ruff check . --fix` and commit the result; 1 of the 2 errors is fixable.',
      },
      {
        log: 'scales/weigh.py:4:8: F401 [*] `os` imported but unused\nFound 1 error.',
        title: 'scales/weigh.py:4: `os` imported but unused',
        cause: 'The linter reports an error at scales/weigh.py:4: “`os` imported but unused” (F401).',
        fix: 'Remove `os` at scales/weigh.py:4, or use it.',
      },
    ],
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
    matches: [
      '12 files inspected, 3 offenses detected',
      'FOUND 3 ERRORS AFFECTING 2 LINES',
      "Execution failed for task ':scales:detekt'.",
    ],
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
      /^(?:\S{1,200}:\d{1,7}: )?unformatted: file would be reformatted/i,
      /^diff (?:-\w{1,3} )?\S{1,200}\.orig \S/i,
      /^--- \S{1,200}\s\(original\)$/i,
      /File content differs from formatting output/i,
      /^\W{0,4}files were modified by this hook/i,
      /(?:error|violations): code should be clang-formatted/i,
      /mix format failed/i,
      /^Found [1-9]\d{0,5} of \d{1,6} files that can be fixed/i,
      /Execution failed for task '[^']{0,120}spotless\w{0,40}Check'/i,
    ],
    reads: [
      /^- hook id: (?<hook>[\w.-]{1,60})/,
      /(?<prettier>prettier)/i,
      /(?<black>black(?= |$)|would be reformatted)/i,
      /(?<ruff>ruff format|^Would reformat: |unformatted: File would be)/,
      /(?<yapf>yapf)/,
      /(?<rustfmt>cargo fmt|^Diff in \S{1,200})/,
      /(?<gofmt>gofmt|goimports)/,
      /Run '(?<run>[^'\n]{1,80}spotlessApply)' to fix/,
      /(?<mix>mix format)/,
      /(?<isort>imports are incorrectly sorted)/i,
      /(?<biome>Formatter would have printed|File content differs from formatting output)/,
      /(?<clang>code should be clang-formatted)/,
    ],
    title: 'The pre-commit hook {hook} changed files',
    cause: 'The pre-commit hook {hook} changed files, which means that they were committed without it.',
    fix: [
      ['code', 'Run `{run}` and commit the result.'],
      ['code', 'Run `pre-commit run {hook} --all-files` and commit the changes.'],
      ['code', (read) => read('prettier') && 'Run `npx prettier --write .` and commit the result.'],
      ['code', (read) => read('ruff') && 'Run `ruff format .` and commit the result.'],
      ['code', (read) => read('black') && 'Run `black .` and commit the result.'],
      ['code', (read) => read('yapf') && 'Run `yapf -i -r .` and commit the result.'],
      ['code', (read) => read('rustfmt') && 'Run `cargo fmt` and commit the result.'],
      ['code', (read) => read('mix') && 'Run `mix format` and commit the result.'],
      ['code', (read) => read('isort') && 'Run `isort .` and commit the result.'],
      ['code', (read) => read('biome') && 'Run `npx biome check --write .` and commit the result.'],
      ['code', '{clang?}Run `clang-format -i {file}` and commit the result.'],
      ['code', (read) => read('gofmt') && 'Run `gofmt -w .` and commit the result.'],
    ],
    matches: [
      'would reformat src/scales.py\n1 file would be reformatted.',
      'src/scales.c:4:9: error: code should be clang-formatted [-Wclang-format-violations]',
      '- files were modified by this hook',
    ],
    ignores: [
      'Prettier would be run by the editor',
      '12 files would be left unchanged.',
      'All matched files use Prettier code style!',
    ],
    says: [
      {
        log: 'would reformat src/scales.py\n1 file would be reformatted.',
        title: 'src/scales.py is not formatted to the project style',
        cause: 'The formatter ran in check mode and would change one file: src/scales.py.',
        fix: 'Run `black .` and commit the result.',
      },
      {
        log: 'Would reformat: src/scales.py\n1 file would be reformatted, 4 files already formatted',
        title: 'src/scales.py is not formatted to the project style',
        fix: 'Run `ruff format .` and commit the result.',
      },
      {
        log:
          'unformatted: File would be reformatted\n --> src/scales.py:3:1\n  |\n2 | import weigh\n' +
          '  - pear = {  "a":1 }\n3 + pear = {"a": 1}\n  |\n\n1 file would be reformatted',
        title: 'src/scales.py is not formatted to the project style',
        fix: 'Run `ruff format .` and commit the result.',
      },
      {
        log:
          '+ gofmt -d .\ndiff scales.go.orig scales.go\n--- scales.go.orig\n+++ scales.go\n' +
          '@@ -1,2 +1,2 @@\n-func weigh() {  }\n+func weigh() {}',
        title: 'scales.go is not formatted to the project style',
        fix: 'Run `gofmt -w .` and commit the result.',
      },
      {
        log:
          '+ yapf --diff -r .\n--- ./pear.py\t(original)\n+++ ./pear.py\t(reformatted)\n@@ -1 +1 @@\n' +
          '-a=1\n+a = 1\n--- ./plum.py\t(original)\n+++ ./plum.py\t(reformatted)\n@@ -1 +1 @@\n-b=1\n' +
          '+b = 1',
        title: 'pear.py and plum.py are not formatted to the project style',
        fix: 'Run `yapf -i -r .` and commit the result.',
      },
      {
        log: '[warn] src/scales.js\n[warn] Code style issues found in the above file. Run Prettier with --write to fix.',
        title: 'src/scales.js is not formatted to the project style',
        cause: 'The formatter ran in check mode and would change one file: src/scales.js.',
        fix: 'Run `npx prettier --write .` and commit the result.',
      },
      {
        log: '- hook id: black\n- files were modified by this hook\n\nreformatted scales/weigh.py',
        title: 'The pre-commit hook black changed files',
        cause: 'The pre-commit hook black changed files, which means that they were committed without it.',
        fix: 'Run `pre-commit run black --all-files` and commit the changes.',
      },
      {
        log: 'src/scales.c:4:9: error: code should be clang-formatted [-Wclang-format-violations]',
        title: 'src/scales.c is not formatted to the project style',
        cause: 'The formatter ran in check mode and would change one file: src/scales.c.',
        fix: 'Run `clang-format -i src/scales.c` and commit the result.',
      },
    ],
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
    reads: [/Too many files with unapproved licen[cs]e: (?<unlicensed>\d{1,6})/],
    fix: [['code', 'Add the license header to the {unlicensed} files in the report.']],
    matches: ['Too many files with unapproved license: 3 See RAT report'],
    ignores: ['License header check ... ok'],
    says: [
      {
        log: 'Too many files with unapproved license: 3 See RAT report',
        fix: 'Add the license header to the 3 files in the report.',
      },
    ],
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

/**
 * Rules for required measurements, and for what the process requires of a change (ties 8 and 9 of the
 * taxonomy).
 */
export const PROCESS_RULES: readonly RuleRow[] = defineRules('CONFIG_ERROR', {
  'threshold-missed': {
    category: 'TEST_FAILURE',
    kind: 'threshold',
    strength: 3.5,
    patterns: [
      /\b(?:coverage|mutation score)\b.{0,80}(?:below|less than|lower than|does not meet|under|failure:|not met|not reached|decreased)/i,
      /\b(?:bundle|file|image|package|asset)s? (?:size )?.{0,60}(?:exceeds?|larger than|over|above) .{0,30}(?:limit|budget|threshold|maximum)/i,
      /\b(?:thresholds?|budgets?)\b.{0,60}(?:not met|exceeded|crossed|missed)/i,
    ],
    reads: [
      /coverage threshold for (?<metric>\w{1,20}) \((?<wanted>[\d.]{1,6} ?%)\) not met: (?<got>[\d.]{1,6} ?%)/,
      /Coverage for (?<metric>\w{1,20}) \((?<got>[\d.]{1,6} ?%)\) does not meet (?:global |"[^"]{1,80}" )?threshold \((?<wanted>[\d.]{1,6} ?%)\)/,
      /[Rr]equired test coverage of (?<wanted>[\d.]{1,6} ?%) not reached\. Total coverage: (?<got>[\d.]{1,6} ?%)/,
      /total of (?<total>\d{1,3}) is less than fail-under=(?<least>[\d.]{1,6})/,
    ],
    title: [
      'Coverage for {metric} is {got}; {wanted} is required',
      'Test coverage is {got}; {wanted} is required',
      'Test coverage is {total}%; {least}% is required',
    ],
    cause: [
      'The tests cover {got} of all {metric}, but the project requires {wanted}.',
      'The tests cover {got} of the code, but the project requires {wanted}.',
      'The tests cover {total}% of the code, but the project requires {least}%.',
    ],
    fix: [
      [
        'code',
        'Add tests until coverage rises from {got} to {wanted}, or lower the threshold if the drop is ' +
          'intended.',
      ],
      [
        'code',
        'Add tests until coverage rises from {total}% to {least}%, or lower the threshold if the drop is ' +
          'intended.',
      ],
    ],
    matches: ['Jest: "global" coverage threshold for lines (80%) not met: 71.5%'],
    ignores: ['Coverage: 91.5% (threshold 80% met)'],
    says: [
      {
        log: 'Jest: "global" coverage threshold for lines (80%) not met: 71.5%',
        title: 'Coverage for lines is 71.5%; 80% is required',
        cause: 'The tests cover 71.5% of all lines, but the project requires 80%.',
        fix:
          'Add tests until coverage rises from 71.5% to 80%, or lower the threshold if the drop is ' +
          'intended.',
      },
      {
        log: 'The mutation score decreased: not met',
        title: 'The mutation score decreased: not met',
        cause: 'The build failed with “The mutation score decreased: not met”.',
        fix: null,
      },
    ],
  },
  'generated-files-changed': {
    category: 'CODE_ERROR',
    kind: 'formatting_failure',
    strength: 4,
    patterns: [/^diff --git a\/\S{1,200} b\//],
    when: (_, { shown }) => /git diff\b[^\n]{0,80}--(?:exit-code|quiet)|git status --porcelain/.test(shown),
    reads: [/^diff --git a\/(?<changed>\S{1,200}) b\//],
    title: '{changed} differs from what the job generates',
    cause: 'The step generates {changed}, and the result differs from the committed file.',
    fix: [['code', 'Run the same command as the job and commit the change to {changed}.']],
    matches: ['+ git diff --exit-code\ndiff --git a/press.gen.ts b/press.gen.ts\n+export const size = 3;'],
    ignores: ['diff --git a/src/press.ts b/src/press.ts'],
    says: [
      {
        log: '+ git diff --exit-code\ndiff --git a/press.gen.ts b/press.gen.ts\n+export const size = 3;',
        title: 'press.gen.ts differs from what the job generates',
        fix: 'Run the same command as the job and commit the change to press.gen.ts.',
      },
    ],
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
    reads: [
      /\b(?:PR|MR|[Rr]equest)(?:'s)? [Tt]itle (?<demand>(?:should|must|needs to) [^\n]{4,140})/,
      /\b[Tt]itle .{0,80}(?<demand>(?:does not|doesn't) (?:follow|match) [^\n]{4,140})/,
      /(?<note>changelog entry|changeset|news fragment|release note)/i,
      /(?<signature>Signed-off-by)/,
      /(?<agreement>\bCLA\b|contributor licen[cs]e agreement)/i,
      /(?:requires?|needs?|at least) (?<approvals>\d{1,2} (?:more )?(?:approv|review)\w{0,6})/i,
      /(?:missing|requires?|required|needs?) .{0,30}\blabels?:? ['"\x60](?<label>[^'"\x60\n]{1,60})['"\x60]/i,
    ],
    fix: [
      ['configuration', 'Rename the pull request, because its title {demand}.'],
      ['configuration', 'Add the label “{label}” to the pull request.'],
      ['ask', '{agreement?}Have every author of the change sign the {agreement}.'],
      ['code', 'Sign off every commit (`git rebase --signoff`), because “{signature}” is missing.'],
      ['ask', 'Get the reviews that the project requires: {approvals}.'],
      ['code', 'Add a {note} to the change: “{message}”.'],
    ],
    matches: ['The PR title does not follow the convention: type(scope): subject'],
    ignores: ['PR title: Weigh the pears'],
    says: [
      {
        log: 'Error: The pull request title must begin with the number of an issue',
        fix: 'Rename the pull request, because its title must begin with the number of an issue.',
      },
      {
        log: 'Missing changelog entry for this change',
        fix: 'Add a changelog entry to the change: “Missing changelog entry for this change”.',
      },
      {
        log: 'The PR title does not follow the convention: type(scope): subject',
        fix:
          'Rename the pull request, because its title does not follow the convention: type(scope): ' +
          'subject.',
      },
      {
        log: 'Error: the pull request is missing the label "weighed"',
        fix: 'Add the label “weighed” to the pull request.',
      },
      {
        log: 'Error: the contributor license agreement is not signed by all authors',
        fix: 'Have every author of the change sign the contributor license agreement.',
      },
      {
        log: 'Error: commit 4711abc is missing a Signed-off-by line',
        fix: 'Sign off every commit (`git rebase --signoff`), because “Signed-off-by” is missing.',
      },
      {
        log: 'Error: this change requires 2 more approvals',
        fix: 'Get the reviews that the project requires: 2 more approvals.',
      },
    ],
  },
  'upstream-job': {
    kind: 'upstream_job',
    strength: 4,
    patterns: [
      /\b(?:some|one or more|at least one|not all)\b.{0,30}\b(?:required|upstream|dependent|needed|dependency|prerequisite)\b.{0,30}\b(?:jobs?|checks?|workflows?|builds?)\b.{0,60}(?:failed|not succeed|did not pass|unsuccessful|not successful)/i,
      /\b(?:upstream|required|previous|dependent) (?:jobs?|checks?|workflows?|builds?)\b.{0,40}(?:failed|was cancell?ed|did not succeed|were not successful)/i,
    ],
    reads: [
      /\b(?:upstream|required) (?:job|check|workflow|build) ['"]?(?<upstream>[\w./-]{1,80})['"]? failed/i,
      /^(?:[-*] )?['"\x60]?(?<upstream>[\w./-]{1,80})['"\x60]?(?: job)?: (?:failure|failed)$/i,
    ],
    fix: [['ask', 'Look at the job {upstream}; this job only reports that it failed.']],
    matches: ['Error: upstream job weigh failed'],
    ignores: ['Triggering the upstream job weigh', 'All required jobs succeeded.'],
    says: [
      {
        log: 'Error: upstream job weigh failed',
        fix: 'Look at the job weigh; this job only reports that it failed.',
      },
    ],
  },
});
