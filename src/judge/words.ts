import type { Diagnostic } from '../domain/failure.ts';
import type { Fact } from './facts.ts';

const SPOKEN: Readonly<Record<string, string>> = {
  compile_error: 'The source does not compile',
  type_error: 'The types do not fit',
  null_reference: 'Code uses a value that is not there',
  crash: 'The program crashed',
  link_error: 'The program does not link',
  lint_failure: 'A code gate found something',
  formatting_failure: 'The source is not formatted as the project wants it',
  assertion: 'An expectation of a test does not hold',
  snapshot: 'The output differs from the stored snapshot',
  flaky_timing: 'A test waited for something that did not come in time',
  threshold: 'A threshold is missed',
  timeout: 'A time limit expired',
  out_of_memory: 'The machine or the process ran out of memory',
  disk_full: 'The disk is full',
  network: 'The network or a remote host did not answer',
  service_unavailable: 'A service did not answer',
  runner_lost: 'The runner was lost',
  rate_limited: 'A service limits the number of requests',
  permission_or_secret: 'A permission or a secret is missing',
  workflow_config: 'The pipeline or a command in it is set up wrongly',
  environment: 'The environment of the job lacks something or has the wrong version of it',
  process_gate: 'A rule of the process is not kept',
  upstream_job: 'The job reports the failure of another job',
  missing_file: 'A file or folder is not where the build looks for it',
  missing_module: 'A module cannot be found',
  version_conflict: 'Versions of dependencies do not fit together',
  dependency_install: 'A dependency cannot be installed',
  vulnerability: 'A dependency has a known vulnerability',
  docker_build: 'The image cannot be built',
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
