import type { Memory } from '../../../../domain/conversation.ts';
import type { ToolOutcome } from '../../../../domain/evidence.ts';
import type { Inquiry } from '../../../../ports/analyst.ts';
import { cutLine } from '../cut-text.ts';
import { showFacts } from '../show-facts.ts';

/** The analysis that is talked about, in short lines; its evidence is shown beside it. */
export function showTopic({ topic }: Pick<Inquiry, 'topic'>): string {
  const { analysis, subject, otherCauses } = topic;
  const { answer, verdict } = analysis;
  return [
    `category: ${analysis.category} (${analysis.kind}), ${Math.round(verdict.confidence * 100)} % sure, ${verdict.action}`,
    `answer: ${oneLine(answer.title)}`,
    `cause: ${oneLine(answer.rootCause)}`,
    `fix: ${oneLine(answer.fixRecommendation)}`,
    ...answer.suspects
      .slice(0, 5)
      .map(
        ({ path, line, commit, author }) => `suspect: ${oneLine([path, line, commit, author].filter((part) => part != null).join(' '))}`,
      ),
    ...verdict.gaps.slice(0, 5).map((gap) => `not known: ${oneLine(gap)}`),
    ...otherCauses.slice(0, 5).map(({ title, category }) => `another cause of the same build: ${oneLine(title)} (${category})`),
    showFacts(subject),
  ].join('\n');
}

/** The conversation so far: older turns in a line each, the last ones whole. */
export function showMemory({ older, recent }: Memory): string {
  const lines = older.map((line) => `earlier: ${line}`);
  return [...lines, ...recent.flatMap(({ question, answer }) => [`question: ${question}`, `answer: ${answer}`])].join('\n');
}

/** Calls made for this question and how they ended. */
export function showCalls(outcomes: readonly ToolOutcome[]): string {
  return outcomes
    .map(({ call, status, summary }) => `${call.tool} ${cutLine(JSON.stringify(call.args))}: ${status}, ${cutLine(oneLine(summary))}`)
    .join('\n');
}

function oneLine(text: string): string {
  return cutLine(text.replace(/\s+/g, ' ').trim());
}
