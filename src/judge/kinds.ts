import type { Kind } from '../domain/category.ts';
import type { Wording } from './sentence.ts';
import { SOURCE_FIXES, SOURCE_READS } from './source-wording.ts';

/**
 * The wording of a kind: sentences that are true of each of its failures. A sentence with an unfilled slot is
 * not used.
 */
interface KindWording extends Wording {
  /** The beginning of a sentence about the kind. */
  readonly spoken: string;
  /**
   * Patterns like `reads`, but tried only on the deciding line and the lines that continue it, because the
   * next finding is a different one.
   */
  readonly readsOwn?: readonly RegExp[];
}

/** The wording of all kinds. Sentences that are true only of some failures of a kind belong to the rule. */
export const KIND_WORDING: Readonly<Record<Kind, KindWording>> = {
  compile_error: { spoken: 'The code does not compile', readsOwn: SOURCE_READS, fix: SOURCE_FIXES },
  type_error: { spoken: 'The types do not match', readsOwn: SOURCE_READS, fix: SOURCE_FIXES },
  null_reference: { spoken: 'The code uses a value or name that is missing' },
  crash: { spoken: 'The program crashed' },
  link_error: { spoken: 'The program does not link' },
  lint_failure: {
    spoken: 'A lint check failed',
    readsOwn: SOURCE_READS,
    reads: [
      /\b\d{1,6} problems? \((?<problems>\d{1,6}) errors?/,
      /^Found (?<problems>\d{1,6}) errors?\b/,
      /\b(?<fixable>\d{1,6}) (?:errors?|problems?)(?: and \d{1,6} warnings?)? (?:are )?(?:potentially )?fixable with the `?--fix/,
      /\[\*\] (?<fixable>\d{1,6}) fixable with the `?--fix/,
    ],
    fix: [
      ['code', fixByLinter],
      ['code', '{fixed?}Run `ruff check --fix .` and commit the result: ruff can correct this finding.'],
      ...SOURCE_FIXES,
    ],
  },
  formatting_failure: { spoken: 'The code is not formatted to the project style' },
  assertion: {
    spoken: 'A test failed',
    fix: [
      ['code', findServerError],
      [
        'code',
        'Start at {place}: {test} gets {actual} instead of {expected}. Fix the code, or update the ' +
          'test if the new value is intended.',
      ],
    ],
  },
  snapshot: {
    spoken: 'The output does not match the stored snapshot',
    fix: [
      [
        'code',
        'Review the difference in {test}. If every changed line is intended, update the snapshot ' +
          'and commit it; otherwise, fix the code that renders it.',
      ],
    ],
  },
  flaky_timing: {
    spoken: 'A test timed out waiting for a condition',
    reads: [
      /(?:[Ee]xceeded timeout of|[Tt]imed? ?out (?:in|after|of)|[Tt]imeout of|[Tt]imeout) {1,4}(?<limit>\d[\d,.]{0,9} ?(?:ms|s|seconds?|milliseconds)\b)/,
    ],
    fix: [
      [
        'code',
        'Make {test} wait for the condition that it needs (start at {place}); raise its limit of ' +
          '{limit} only if it really takes longer.',
      ],
    ],
  },
  threshold: { spoken: 'A threshold was not met' },
  timeout: { spoken: 'A time limit expired' },
  descriptor_limit: { spoken: 'The process ran out of file descriptors' },
  out_of_memory: { spoken: 'The machine or process ran out of memory' },
  disk_full: { spoken: 'The disk is full' },
  network: {
    spoken: 'The network or a remote host did not answer',
    fix: [['rerun', 'Run the job again when {host} responds; your project is not involved.']],
  },
  service_unavailable: {
    spoken: 'A service did not answer',
    fix: [['rerun', 'Run the job again when {host} responds; your project is not involved.']],
  },
  runner_lost: { spoken: 'The runner was lost' },
  rate_limited: {
    spoken: 'A service is limiting requests',
    fix: [['rerun', 'Run the job again when the rate limit of {host} resets.']],
  },
  permission_or_secret: { spoken: 'A permission or secret is missing' },
  workflow_config: { spoken: 'The pipeline or one of its commands is misconfigured' },
  environment: { spoken: 'The job is not set up for what it runs' },
  process_gate: { spoken: 'A process rule was violated' },
  upstream_job: { spoken: 'The job failed because another job failed' },
  missing_file: { spoken: 'The build cannot find a file or folder' },
  missing_module: {
    spoken: 'A module could not be found',
    fix: [
      [
        'dependency',
        'Declare {package}, which provides `{module}`, as a dependency; if it is declared, check that its ' +
          'install step succeeded.',
      ],
    ],
  },
  version_conflict: { spoken: 'Dependency versions are incompatible' },
  dependency_install: { spoken: 'A dependency could not be installed' },
  vulnerability: { spoken: 'A dependency has a known vulnerability' },
  docker_build: { spoken: 'The image could not be built' },
  unknown: { spoken: 'The cause is not clear' },
};

/**
 * Advises where to look if a server failed during a test's request, because the status hides the exception.
 */
function findServerError(read: (slot: string) => string | null): string | null {
  const [test, actual, expected] = [read('test'), read('actual'), read('expected')];
  if (test === null || !/^5\d\d$/.test(actual ?? '') || !/^[1-4]\d\d$/.test(expected ?? '')) return null;
  return `Find out from the server log why ${test} gets ${actual} instead of ${expected}.`;
}

/** Linters that can fix findings themselves. */
const FIXING_LINTERS = /\b(eslint|ruff|stylelint|biome|oxlint)\b/;
const CALLS: Readonly<Record<string, string>> = {
  eslint: 'npx eslint .',
  ruff: 'ruff check .',
  stylelint: 'npx stylelint "**/*.css"',
  biome: 'npx biome check',
  oxlint: 'npx oxlint',
};

/** Advises to run a linter with its option to fix, if the linter prints the number of fixable findings. */
function fixByLinter(read: (slot: string) => string | null): string | null {
  const [fixable, command, problems] = [read('fixable'), read('command') ?? '', read('problems')];
  const linter = FIXING_LINTERS.exec(command)?.[1] ?? FIXING_LINTERS.exec(read('tool') ?? '')?.[1];
  if (fixable === null || Number(fixable) === 0 || linter === undefined) return null;
  // Fixing a few of many findings would not fix the failure.
  if (problems !== null && 2 * Number(fixable) < Number(problems)) return null;
  const isOwn = /^(?:npx )?(?:eslint|ruff check|stylelint|biome|oxlint)\b/.test(command);
  const call = isOwn ? (/^(?:npx|ruff) /.test(command) ? command : `npx ${command}`) : (CALLS[linter] ?? '');
  const count = problems === null ? `${fixable} of the errors` : `${fixable} of the ${problems} errors`;
  const effect =
    problems === fixable ? 'it fixes every error' : `${count} ${fixable === '1' ? 'is' : 'are'} fixable`;
  return `Run \`${call} --${linter === 'biome' ? 'write' : 'fix'}\` and commit the result; ${effect}.`;
}
