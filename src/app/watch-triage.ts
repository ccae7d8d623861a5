import type { Step } from '../domain/analysis.ts';
import type { TriageJob } from '../domain/triage.ts';
import type { Publisher } from '../ports/notices.ts';
import type { TriageStore } from '../ports/stores.ts';
import { type Logger, silentTracer, type Tracer, withFields } from '../ports/telemetry.ts';

/**
 * The work on one job, in the trace of the request that owed it, and with its ids in every line of the log. How long it waited
 * for a worker is a span of its own.
 */
export function watchTriage<Value>(
  job: TriageJob | undefined,
  { tracer, logger }: { readonly tracer: Tracer; readonly logger: Logger },
  work: () => Promise<Value>,
): Promise<Value> {
  if (job === undefined) return work();
  const parent = job.traceparent ?? null;
  const facts = { 'faultline.build.id': job.buildId, 'faultline.job.id': job.id, 'faultline.attempts': job.attempts };
  if (job.owedAt !== undefined && job.attempts === 1) {
    const period = { startedAt: Date.parse(job.owedAt), endedAt: Date.parse(job.updatedAt) };
    tracer.record({ name: 'queue wait', kind: 'internal', facts, parent }, period);
  }
  return withFields(logger, { jobId: job.id, buildId: job.buildId }, () =>
    tracer.span({ name: 'triage build', kind: 'consumer', facts, parent }, work),
  );
}

/** A node of the graph that has finished. */
export function recordNode(tracer: Tracer, { node, round, startedAt, milliseconds, by, investigator }: Step): void {
  const facts = { 'faultline.node': node, 'faultline.round': round, 'faultline.judged_by': by, 'faultline.investigator': investigator };
  const start = Date.parse(startedAt);
  tracer.record({ name: `node ${node}`, kind: 'internal', facts }, { startedAt: start, endedAt: start + milliseconds });
}

/** Every telling is a span in the trace of the build that it is about, however much later it is. */
export function tracedPublisher(publisher: Publisher, tracer: Tracer, triages: Pick<TriageStore, 'findByBuild'>): Publisher {
  if (tracer === silentTracer) return publisher;
  return {
    ...publisher,
    publish: async (build, analysis, options) => {
      const job = await triages.findByBuild(build.id).catch(() => null);
      const facts = {
        'faultline.publisher': publisher.driver,
        'faultline.build.id': build.id,
        'faultline.analysis.id': analysis.id,
        'faultline.category': analysis.category,
      };
      const outline = { name: `publish ${publisher.driver}`, kind: 'client' as const, facts, parent: job?.traceparent ?? null };
      return tracer.span(outline, () => publisher.publish(build, analysis, options));
    },
  };
}
