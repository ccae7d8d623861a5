import type { Answer, Channel } from './channel.ts';

/** The number of published keys that are remembered. Older ones may be logged again, which does no harm. */
const REMEMBERED = 1000;

/** Writes confident answers to the log, once per key and process. Their texts are masked already. */
export function createLogChannel(): Channel {
  return {
    name: 'log',
    secrets: [],
    answers: async ({ logger }) => {
      const logged = new Set<string>();
      return {
        render: toFields,
        send: async (fields, { key, signal }) => {
          signal.throwIfAborted();
          if (logged.has(key)) return { reference: null };
          logged.add(key);
          for (const oldest of logged) {
            if (logged.size <= REMEMBERED) break;
            logged.delete(oldest);
          }
          logger.info({ ...fields }, 'answer published');
          return { reference: null };
        },
      };
    },
    checks: () => [],
  };
}

function toFields({ build, analysis }: Answer): object {
  return {
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
  };
}
