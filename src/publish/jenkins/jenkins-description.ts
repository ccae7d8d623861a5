import { isJudged, saidCategory } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';
import type { Cause, NoticeRule, Situation } from '../../ports/notices.ts';
import { confirmation, formOf, percent } from '../answer-facts.ts';
import { clip, visibleLine } from '../visible-text.ts';

/** `html` where Jenkins formats descriptions as safe HTML, `text` where it shows them as they are. */
export type DescriptionFormat = 'html' | 'text';

/** What is to stand in the description of one build. */
export interface JenkinsDescription {
  readonly build: Pick<Build, 'url' | 'externalId' | 'number' | 'pipeline'>;
  readonly text: string;
  readonly format: DescriptionFormat;
}

export interface DescriptionOptions {
  /** Where people reach Faultline; null: no links. */
  readonly publicUrl: string | null;
  readonly format: DescriptionFormat;
}

const CHANNEL = 'jenkins-description';

/** Speaks of failed builds of Jenkins. */
export const jenkinsRule: NoticeRule = {
  channel: CHANNEL,
  placeOf: ({ id, provider, status }) =>
    provider === 'jenkins' ? { key: `${CHANNEL}:${id}`, about: { type: 'build', buildId: id }, opens: status === 'failed' } : null,
};

/** The sentence for the build's page. Null while it is looked at, and of a build that has not failed. */
export function jenkinsDescription({ heads }: Situation, options: DescriptionOptions): JenkinsDescription | null {
  const [head] = heads;
  if (head === undefined || head.build.status !== 'failed') return null;
  const { build, job, causes, question } = head;
  if (job !== null && job.state !== 'done' && job.state !== 'failed') return null;
  // A person is asked: the triage goes on when they have answered.
  if (causes.length === 0 && question !== null) return null;
  const { url, externalId, number, pipeline } = build;
  const [first, ...others] = [...causes].sort((a, b) => b.failures - a.failures);
  const text = first === undefined ? notAnalysed(job?.error ?? null, options) : sentenceOf(first, others.length, options);
  return { build: { url, externalId, number, pipeline }, text, format: options.format };
}

function sentenceOf(cause: Cause, others: number, options: DescriptionOptions): string {
  const plain = (text: string, limit: number) => shown(text, limit, options.format);
  const { analysis } = cause;
  const title = plain(analysis.answer.title.replaceAll('`', ''), 200).replace(/\.$/, '');
  const more = others === 0 ? '' : ` ${others} more ${others === 1 ? 'cause' : 'causes'}.`;
  return `${plain(howSure(cause), 200)}: ${title}.${more}${linkTo(analysis.id, options)}`;
}

function howSure({ analysis, review }: Cause): string {
  const decision = review?.decision ?? null;
  const { verdict } = analysis;
  const category = saidCategory(analysis);
  if (decision?.type === 'accept') return `${category}, confirmed by ${decision.reviewer}`;
  if (decision?.type === 'correct')
    return `${decision.category ?? category}, corrected by ${decision.reviewer} (Faultline said ${category})`;
  if (decision?.type === 'reject') return `${category}, marked wrong by ${decision.reviewer}`;
  const known = confirmation(analysis);
  if (known !== null) return `${category}, ${known}`;
  if (!isJudged(analysis)) return 'Not analyzed, needs review';
  const sure = `${category} ${percent(verdict.confidence)}`;
  return formOf(analysis) === 'unsure' ? `${sure}, needs review` : sure;
}

function notAnalysed(reason: string | null, { format }: DescriptionOptions): string {
  return `Faultline: not analyzed, ${shown(reason ?? 'no failure was found in its logs', 300, format)}`;
}

function linkTo(analysisId: string, { publicUrl, format }: DescriptionOptions): string {
  if (publicUrl === null) return '';
  const url = `${publicUrl.replace(/\/$/, '')}/analyses/${encodeURIComponent(analysisId)}`;
  return format === 'html' ? ` <a href="${escapeHtml(url)}">why</a>` : ` Why: ${url}`;
}

/** As plain text no bracket is left either: how Jenkins formats it is its operator's choice, and may change. */
function shown(text: string, limit: number, format: DescriptionFormat): string {
  const line = clip(visibleLine(text), limit);
  return format === 'html' ? escapeHtml(line) : line.replaceAll('<', '\u2039').replaceAll('>', '\u203a');
}

function escapeHtml(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped.replaceAll('"', '&quot;').replaceAll("'", '&#39;');
}
