import type { TriageSubject } from '../domain/triage.ts';
import type { CodeHost } from '../ports/code-host.ts';
import { resolveCommit } from './repository-file.ts';
import type { CachePolicy } from './tool.ts';

/** What stands in a commit never changes; what else an answer tells (a pull request, who an author is) may, so a week and no longer. */
const WEEK_MS = 7 * 24 * 3_600_000;

/**
 * Keeps a code tool's answers by the commit that answers for the build. Where that is not known as a commit, nothing is kept.
 * A tool that takes missing arguments from the failure is kept by the failure too; `ofArguments`: it looks at nothing but its arguments.
 */
export function keptByCommit(codeHost: CodeHost, looks: 'ofFailure' | 'ofArguments' = 'ofFailure'): CachePolicy<unknown> {
  return {
    ttlMs: WEEK_MS,
    key: async (_args, { subject, signal }) => {
      const { ref, note } = await resolveCommit(codeHost, subject, signal);
      if (!/^[0-9a-f]{40,64}$/.test(ref)) return null;
      return [codeHost.driver, ref, note, ...(looks === 'ofArguments' ? [] : [failureOf(subject)])];
    },
  };
}

/** What tools read of a failure, without the ids that differ from build to build. */
function failureOf(subject: TriageSubject): readonly unknown[] {
  const { fingerprint, failures, exceptions, diagnostics, failingTests } = subject;
  return [fingerprint.value, failures.map(({ test, message, frames }) => [test, message, frames]), exceptions, diagnostics, failingTests];
}
