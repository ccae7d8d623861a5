import { type Build, isCodeHost } from '../domain/build.ts';
import type { SpanFacts } from '../ports/telemetry.ts';

/** The results of a pipeline run in OpenTelemetry's conventions. */
const RESULTS = { passed: 'success', failed: 'failure', cancelled: 'cancellation', unknown: null } as const;

/**
 * Returns the attributes of a build's pipeline run and revision. Their names follow OpenTelemetry's
 * conventions for CI/CD and version control.
 */
export function toCicdFacts(build: Build): SpanFacts {
  const { provider, repository, pipeline, externalId, number, url, job, branch, commit, pullRequest } = build;
  const end = repository.lastIndexOf('/');
  return {
    'cicd.pipeline.name': pipeline,
    'cicd.pipeline.run.id': externalId ?? number,
    'cicd.pipeline.run.url.full': url,
    'cicd.pipeline.result': RESULTS[build.status],
    'cicd.pipeline.task.name': job,
    'vcs.provider.name': isCodeHost(provider) ? provider : null,
    'vcs.owner.name': end === -1 ? null : repository.slice(0, end),
    'vcs.repository.name': repository.slice(end + 1),
    'vcs.ref.head.name': branch,
    'vcs.ref.head.revision': commit,
    'vcs.change.id': pullRequest === null ? null : String(pullRequest),
  };
}
