import type { Diagnostic } from '../domain/failure.ts';
import type { Fact } from './facts.ts';

const SPOKEN: Readonly<Record<string, string>> = {
  compile_error: 'The code does not compile',
  type_error: 'The types do not match',
  null_reference: 'The code uses a missing value',
  crash: 'The program crashed',
  link_error: 'The program does not link',
  lint_failure: 'A lint check failed',
  formatting_failure: 'The code is not formatted to the project style',
  assertion: 'A test assertion failed',
  snapshot: 'The output does not match the stored snapshot',
  flaky_timing: 'A test timed out waiting for a condition',
  threshold: 'A threshold was not met',
  timeout: 'A time limit expired',
  out_of_memory: 'The machine or process ran out of memory',
  disk_full: 'The disk is full',
  network: 'The network or a remote host did not answer',
  service_unavailable: 'A service did not answer',
  runner_lost: 'The runner was lost',
  rate_limited: 'A service is limiting requests',
  permission_or_secret: 'A permission or secret is missing',
  workflow_config: 'The pipeline or one of its commands is misconfigured',
  environment: 'The job environment lacks a tool or has the wrong version',
  process_gate: 'A process rule was violated',
  upstream_job: 'The job failed because another job failed',
  missing_file: 'The build cannot find a file or folder',
  missing_module: 'A module could not be found',
  version_conflict: 'Dependency versions are incompatible',
  dependency_install: 'A dependency could not be installed',
  vulnerability: 'A dependency has a known vulnerability',
  docker_build: 'The image could not be built',
  unknown: 'The cause is not clear',
};

/** A kind as the beginning of a sentence. */
export function spokenKind(kind: string): string {
  return SPOKEN[kind] ?? 'The cause is not clear';
}

/** The tool's name as people know it; extractors see only a format that several tools share. */
export function toolName({ tool, code }: Pick<Diagnostic, 'tool' | 'code'>): string {
  if (/^TS\d/.test(code ?? '')) return 'tsc';
  if (/^CS\d/.test(code ?? '')) return 'csc';
  if (tool === 'compiler') return 'the compiler';
  // Its form was read, and nothing says whose it is.
  return tool === 'tool' ? 'the failed command' : tool;
}

/** What a fact says, without the tool that rules match a diagnostic by. */
export function wordsOf(fact: Fact): string {
  return fact.origin === 'diagnostic'
    ? fact.text.replace(/^[\w+.-]{1,40}: /, '')
    : fact.text.replace(/^##\[error\]|^(?:npm (?:ERR!|error)|\[ERROR\]|ERROR:|error:|E:) ?/, '');
}
