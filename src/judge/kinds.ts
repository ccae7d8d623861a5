import type { Kind } from '../domain/category.ts';
import type { Wording } from './sentence.ts';

/** How a kind is spoken of, and what is true of each of its failures. A sentence without a filled slot is said of none. */
interface KindWording extends Wording {
  /** The beginning of a sentence. */
  readonly spoken: string;
}

/** The kinds in words. What holds only for some failures of a kind belongs into the row of their rule. */
export const KIND_WORDING: Readonly<Record<Kind, KindWording>> = {
  compile_error: {
    spoken: 'The code does not compile',
    fix: [
      ['code', 'Correct {place}: {tool} suggests “{suggestion}”.'],
      ['code', 'Correct the code at {place}, then run `{command}` again.'],
      ['code', 'Correct the code at {place}.'],
    ],
  },
  type_error: {
    spoken: 'The types do not match',
    fix: [
      ['code', 'Correct {place}: {tool} suggests “{suggestion}”.'],
      ['code', 'Make the types match at {place}, then run `{command}` again.'],
      ['code', 'Make the types match at {place}.'],
    ],
  },
  null_reference: { spoken: 'The code uses a value or name that is missing' },
  crash: { spoken: 'The program crashed', fix: [['code', 'Start at {place}, the first line of the project in the trace.']] },
  link_error: { spoken: 'The program does not link' },
  lint_failure: {
    spoken: 'A lint check failed',
    fix: [
      ['code', fixByLinter],
      ['code', 'Correct the finding at {place}, then run `{command}` again.'],
      ['code', 'Correct the finding at {place}.'],
    ],
  },
  formatting_failure: { spoken: 'The code is not formatted to the project style' },
  assertion: {
    spoken: 'A test assertion failed',
    fix: [
      [
        'code',
        'Compare {expected}, which {test} expects, with {actual}, which came: correct the code it tests, or the test if the new value is intended (start at {place}).',
      ],
    ],
  },
  snapshot: {
    spoken: 'The output does not match the stored snapshot',
    fix: [
      [
        'code',
        'Review the difference in {test}: update the snapshot and commit it if every changed line is intended; otherwise correct the code that renders it.',
      ],
    ],
  },
  flaky_timing: { spoken: 'A test timed out waiting for a condition' },
  threshold: { spoken: 'A threshold was not met' },
  timeout: { spoken: 'A time limit expired' },
  out_of_memory: { spoken: 'The machine or process ran out of memory' },
  disk_full: { spoken: 'The disk is full' },
  network: {
    spoken: 'The network or a remote host did not answer',
    fix: [['rerun', 'Run the job again when {host} answers; nothing of yours is involved.']],
  },
  service_unavailable: {
    spoken: 'A service did not answer',
    fix: [['rerun', 'Run the job again when {host} answers; nothing of yours is involved.']],
  },
  runner_lost: { spoken: 'The runner was lost' },
  rate_limited: {
    spoken: 'A service is limiting requests',
    fix: [['rerun', 'Run the job again when the limit of {host} resets.']],
  },
  permission_or_secret: { spoken: 'A permission or secret is missing' },
  workflow_config: { spoken: 'The pipeline or one of its commands is misconfigured' },
  environment: { spoken: 'The job is not set up for what it runs' },
  process_gate: { spoken: 'A process rule was violated' },
  upstream_job: { spoken: 'The job failed because another job failed' },
  missing_file: { spoken: 'The build cannot find a file or folder' },
  missing_module: {
    spoken: 'A module could not be found',
    fix: [['dependency', 'Declare {package} as a dependency, or correct the import if it was renamed.']],
  },
  version_conflict: { spoken: 'Dependency versions are incompatible' },
  dependency_install: { spoken: 'A dependency could not be installed' },
  vulnerability: { spoken: 'A dependency has a known vulnerability' },
  docker_build: { spoken: 'The image could not be built' },
  unknown: { spoken: 'The cause is not clear' },
};

/** A linter's own call with its option to mend, where it says how many findings that mends. */
function fixByLinter(read: (slot: string) => string | null): string | null {
  const [fixable, command] = [read('fixable'), read('command')];
  const linter = /\b(eslint|ruff check|stylelint|biome (?:check|lint)|oxlint|rubocop)\b/.exec(command ?? '')?.[1];
  if (fixable === null || fixable === '0' || command === null || linter === undefined) return null;
  const call = command.startsWith('npx ') || /^(?:ruff|rubocop)/.test(command) ? command : `npx ${command}`;
  const problems = read('problems');
  return `Run \`${call} --fix\`: ${fixable}${problems === null ? '' : ` of the ${problems} problems`} ${fixable === '1' ? 'is' : 'are'} fixable.`;
}
