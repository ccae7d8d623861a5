import type { Analysis } from '../../src/domain/analysis.ts';
import type { Experiment } from '../../src/domain/experiment.ts';
import { moreFacts, percent } from '../../src/notifications/answer-view.ts';
import { namedLines } from '../../src/notifications/experiment-lines.ts';
import { clip, disarmRunnerCommands, inline, visibleLine } from '../../src/notifications/visible-text.ts';
import { renderGithubCommands, renderMarkdown, renderPlain } from '../../src/service/answers/render.ts';

/** GitHub shows ten annotations of a kind and step, and drops the rest. */
const MAX_ANNOTATIONS = 10;
/** Of at most about 25,000 characters each; a step's summary may have a mebibyte. */
const MAX_CAUSES = 20;
const MAX_TEXT = 2_000;

export interface Answer {
  readonly analyses: readonly Analysis[];
  /** What running the command again has shown; null where that was not asked for. */
  readonly experiment: Experiment | null;
  /** Why there is no answer; null where there is one. */
  readonly pending: string | null;
  /** Page of one analysis, or of all (null). */
  pageOf(analysis: Analysis | null): string | null;
}

/** Paths below the runner's workspace, as the repository has them: an annotation with any other is shown at no file. Quotations stay. */
export function withinWorkspace(answer: Answer, workspace: string): Answer {
  const folder = `${workspace.replaceAll('\\', '/').replace(/\/$/, '')}/`;
  if (folder === '/') return answer;
  const within = (text: string) => text.replaceAll(folder, '');
  const analyses = answer.analyses.map((analysis) => {
    const { title, rootCause, fixRecommendation, suspects } = analysis.answer;
    const said = { title: within(title), rootCause: within(rootCause), fixRecommendation: within(fixRecommendation) };
    const placed = suspects.map((suspect) => ({ ...suspect, path: within(suspect.path) }));
    return { ...analysis, answer: { ...analysis.answer, ...said, suspects: placed } };
  });
  return { ...answer, analyses };
}

/** The job's summary, in which foreign text is only text. */
export function summaryOf({ analyses, experiment, pending, pageOf }: Answer): string {
  const tried =
    experiment === null
      ? ''
      : `\n**${inline(clip(experiment.sentence, MAX_TEXT))}**\n${besides(experiment)
          .map((line) => `\n${inline(clip(line, MAX_TEXT))}\n`)
          .join('')}`;
  const page = pageOf(analyses.length === 1 ? (analyses[0] ?? null) : null);
  const link = page === null ? '' : `\n[Open in Faultline](${page})\n`;
  if (analyses.length === 0) return `### Faultline\n${tried}\n${inline(clip(pending ?? 'There is no answer.', MAX_TEXT))}\n${link}`;
  const causes = analyses.length === 1 ? '1 cause' : `${analyses.length} causes`;
  const left = analyses.length > MAX_CAUSES ? `\n… and ${analyses.length - MAX_CAUSES} more causes.\n` : '';
  return `### Faultline: ${causes}\n${tried}\n${analyses.slice(0, MAX_CAUSES).map(renderMarkdown).join('\n')}${left}${link}`;
}

/** What the job itself has found out beside the counts. */
function besides(experiment: Experiment): string[] {
  return [...namedLines(experiment).map(({ name, text }) => `${name}: ${text}`), ...experiment.notes];
}

/**
 * What the step prints: a line a cause for people, or all that is known of it where the runner shows no summary, and an annotation for each
 * of the first ten.
 */
export function printedOf({ analyses, experiment }: Answer, showsSummary: boolean): string {
  const tried = experiment === null ? [] : [experiment.sentence, ...besides(experiment)];
  const said = analyses.slice(0, MAX_CAUSES).map((analysis) => {
    const { category, verdict, answer } = analysis;
    if (!showsSummary) return renderPlain(analysis);
    return `${disarmRunnerCommands(visibleLine(`${category} ${percent(verdict.confidence)}: ${clip(answer.title, 200)}`))}\n`;
  });
  const lines = tried.map((text) => `${disarmRunnerCommands(visibleLine(text))}\n`);
  return [...lines, ...said, ...analyses.slice(0, MAX_ANNOTATIONS).map(renderGithubCommands)].join('');
}

/** The step's outputs; `fallbackUrl` is the run's page. */
export function outputsOf({ analyses, experiment, pageOf }: Answer, fallbackUrl: string): Record<string, string> {
  const main = analyses[0];
  const causes = analyses.slice(0, MAX_CAUSES).map((analysis) => {
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
      facts: moreFacts(analysis),
      url: pageOf(analysis),
    };
  });
  return {
    category: main?.category ?? '',
    confidence: main === undefined ? '' : `${Math.floor(main.verdict.confidence * 100 + 1e-9) / 100}`,
    url: pageOf(main ?? null) ?? fallbackUrl,
    json: JSON.stringify(causes),
    verdict: experiment?.verdict ?? '',
    culprit: experiment?.bisection?.verdict === 'found' ? (experiment.bisection.candidates[0]?.commit ?? '') : '',
    patch: experiment?.fixes?.attempts.find(({ verdict }) => verdict === 'fixed')?.diff ?? '',
  };
}
