import type { Analysis } from '../../src/domain/analysis.ts';
import { nameCategory } from '../../src/domain/category-words.ts';
import type { Experiment } from '../../src/domain/experiment.ts';
import { formatConfidence, roundConfidence } from '../../src/lib/text.ts';
import { collectMoreFacts } from '../../src/notifications/answer-view.ts';
import { type ArrangedAnswer, introduceAnswers } from '../../src/notifications/build-answers.ts';
import { listNamedLines } from '../../src/notifications/experiment-lines.ts';
import { clip, disarmRunnerCommands, toInline, toVisibleLine } from '../../src/notifications/visible-text.ts';
import { renderGithubCommands, renderMarkdown, renderPlain } from '../../src/service/answers/render.ts';

/** GitHub shows ten annotations of a kind and step, and drops the rest. */
const MAX_ANNOTATIONS = 10;
/**
 * Maximum number of causes in the summary. Each has at most about 25,000 characters; the summary of a step
 * may have 1 MiB.
 */
const MAX_CAUSES = 20;
const MAX_TEXT = 2_000;
const MAX_TESTS = 50;
const MAX_NAME = 200;

/** An answer, and its failures among those of the build. */
export type ExplainedAnswer = Pick<ArrangedAnswer, 'analysis' | 'explains'>;

export interface Answer {
  /** Answers in the order in which they should be fixed. */
  readonly answers: readonly ExplainedAnswer[];
  /** The result of running the command again. Null if this was not requested. */
  readonly experiment: Experiment | null;
  /** The reason why there is no answer. Null if there is one. */
  readonly pending: string | null;
  /**
   * Returns the URL of the page of one analysis, or of all analyses (null). Returns null if there is no page.
   */
  getPageUrl(analysis: Analysis | null): string | null;
}

/**
 * Paths below the runner's workspace, as the repository has them: an annotation with any other is shown at no
 * file. Quotations stay.
 */
export function toWorkspacePaths(answer: Answer, workspace: string): Answer {
  const folder = `${workspace.replaceAll('\\', '/').replace(/\/$/, '')}/`;
  if (folder === '/') return answer;
  const within = (text: string) => text.replaceAll(folder, '');
  const answers = answer.answers.map(({ analysis, explains }) => {
    const { title, rootCause, fixRecommendation, suspects } = analysis.answer;
    const heading = {
      title: within(title),
      rootCause: within(rootCause),
      fixRecommendation: within(fixRecommendation),
    };
    const placed = suspects.map((suspect) => ({ ...suspect, path: within(suspect.path) }));
    return {
      explains,
      analysis: { ...analysis, answer: { ...analysis.answer, ...heading, suspects: placed } },
    };
  });
  return { ...answer, answers };
}

/** Formats the job summary as Markdown. Text from outside is escaped, so that it has no markup. */
export function formatSummary({ answers, experiment, pending, getPageUrl }: Answer): string {
  const tried =
    experiment === null
      ? ''
      : `\n**${toInline(clip(experiment.sentence, MAX_TEXT))}**\n${listOtherFindings(experiment)
          .map((line) => `\n${toInline(clip(line, MAX_TEXT))}\n`)
          .join('')}`;
  const page = getPageUrl(answers.length === 1 ? (answers[0]?.analysis ?? null) : null);
  const link = page === null ? '' : `\n[Open in Faultline](${page})\n`;
  if (answers.length === 0)
    return `### Faultline\n${tried}\n${toInline(clip(pending ?? 'There is no answer.', MAX_TEXT))}\n${link}`;
  const causes = introduceAnswers(answers) ?? '1 cause';
  const left = answers.length > MAX_CAUSES ? `\n… and ${answers.length - MAX_CAUSES} more causes.\n` : '';
  const annotations = answers
    .slice(0, MAX_CAUSES)
    .map(({ analysis, explains }) => renderMarkdown(analysis, explains));
  return `### Faultline: ${causes}\n${tried}\n${annotations.join('\n')}${left}${link}`;
}

/** Lists the findings of the experiment besides the counts. */
function listOtherFindings(experiment: Experiment): string[] {
  return [...listNamedLines(experiment).map(({ name, text }) => `${name}: ${text}`), ...experiment.notes];
}

/**
 * Formats the output of the step: one line per cause, or all details if the runner shows no summary, and an
 * annotation for each of the first ten answers.
 */
export function formatConsoleText({ answers, experiment }: Answer, showsSummary: boolean): string {
  const tried = experiment === null ? [] : [experiment.sentence, ...listOtherFindings(experiment)];
  const summaries = answers.slice(0, MAX_CAUSES).map(({ analysis, explains }) => {
    const { category, verdict, answer } = analysis;
    if (!showsSummary) return renderPlain(analysis, { explains });
    return `${disarmRunnerCommands(toVisibleLine(`${nameCategory(category)} ${formatConfidence(verdict.confidence)}: ${clip(answer.title, 200)}`))}\n`;
  });
  const lines = tried.map((text) => `${disarmRunnerCommands(toVisibleLine(text))}\n`);
  const annotations = answers
    .slice(0, MAX_ANNOTATIONS)
    .map(({ analysis, explains }) => renderGithubCommands(analysis, explains));
  return [...lines, ...summaries, ...annotations].join('');
}

/** Returns the outputs of the step. `fallbackUrl` is the page of the run. */
export function buildOutputs(
  { answers, experiment, getPageUrl }: Answer,
  fallbackUrl: string,
): Record<string, string> {
  const main = answers[0]?.analysis;
  const causes = answers.slice(0, MAX_CAUSES).map(({ analysis, explains }) => {
    const { category, kind, verdict, answer } = analysis;
    return {
      category,
      kind,
      confidence: verdict.confidence,
      action: verdict.action,
      title: clip(answer.title, MAX_TEXT),
      rootCause: clip(answer.rootCause, MAX_TEXT),
      fix: clip(answer.fixRecommendation, MAX_TEXT),
      suspects: answer.suspects.slice(0, 5).map(({ path, line, commit }) => ({ path, line, commit })),
      failures: explains.failures,
      tests: explains.tests.slice(0, MAX_TESTS).map((name) => clip(name, MAX_NAME)),
      grouped: explains.grouped,
      facts: collectMoreFacts(analysis),
      url: getPageUrl(analysis),
    };
  });
  return {
    category: main?.category ?? '',
    confidence: main === undefined ? '' : `${roundConfidence(main.verdict.confidence)}`,
    url: getPageUrl(main ?? null) ?? fallbackUrl,
    json: JSON.stringify(causes),
    verdict: experiment?.verdict ?? '',
    culprit:
      experiment?.bisection?.verdict === 'found' ? (experiment.bisection.candidates[0]?.commit ?? '') : '',
    patch: experiment?.fixes?.attempts.find(({ verdict }) => verdict === 'fixed')?.diff ?? '',
  };
}
