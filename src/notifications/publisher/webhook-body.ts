import type { Analysis } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';

const MAX_TEXT = 4_000;
const MAX_ITEMS = 10;

/**
 * What the other side is told, as JSON: which build, which answer, the lines that prove it. Bounded to some 200 KB whatever the answer
 * holds. Its texts are masked already; they quote logs, so whoever shows them must escape them.
 */
export function webhookBody(build: Build, analysis: Analysis): string {
  return JSON.stringify({ type: 'analysis.concluded', timestamp: analysis.createdAt, data: webhookData(build, analysis) });
}

/** The build and the answer, bounded. */
export function webhookData(build: Build, analysis: Analysis): object {
  const { id, provider, repository, pipeline, number, attempt, branch, commit, pullRequest, url } = build;
  return {
    build: { id, provider, repository, pipeline, number, attempt, branch, commit, pullRequest, url },
    analysis: answerOf(analysis),
  };
}

function answerOf({ id, category, kind, answer, verdict, recalled, failureIds, fingerprint, createdAt }: Analysis): object {
  return {
    ...{ id, category, kind, fingerprint, createdAt },
    failures: failureIds.length,
    confidence: verdict.confidence,
    title: cut(answer.title),
    rootCause: cut(answer.rootCause),
    fixRecommendation: cut(answer.fixRecommendation),
    claims: answer.claims.slice(0, MAX_ITEMS).map(({ text, quotes }) => ({
      text: cut(text),
      quotes: quotes.slice(0, MAX_ITEMS).map((quote) => ({ source: quote.source, line: quote.line, text: cut(quote.text).slice(0, 500) })),
    })),
    suspects: answer.suspects.slice(0, MAX_ITEMS),
    confirmedBy: recalled?.confirmedBy ?? null,
  };
}

function cut(text: string): string {
  return text.slice(0, MAX_TEXT).toWellFormed();
}
