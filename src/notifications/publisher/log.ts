import type { Publisher } from '../../ports/notices.ts';
import type { Logger } from '../../ports/telemetry.ts';

/** The number of published keys that are remembered. Older ones may be logged again, which does no harm. */
const REMEMBERED = 1000;

/** Writes the sure answer to the log, once per key and process. Its texts are masked already. */
export function createLogPublisher(logger: Logger): Publisher {
  const told = new Set<string>();
  return {
    driver: 'log',
    async publish(build, analysis, { key, signal }) {
      signal.throwIfAborted();
      if (told.has(key)) return { reference: null };
      told.add(key);
      for (const oldest of told) {
        if (told.size <= REMEMBERED) break;
        told.delete(oldest);
      }
      logger.info(
        {
          buildId: build.id,
          repository: build.repository,
          pipeline: build.pipeline,
          number: build.number,
          analysisId: analysis.id,
          category: analysis.category,
          kind: analysis.kind,
          confidence: analysis.verdict.confidence,
          title: analysis.answer.title,
          fix: analysis.answer.fixRecommendation,
          confirmedBy: analysis.recalled?.confirmedBy ?? null,
        },
        'answer published',
      );
      return { reference: null };
    },
  };
}
