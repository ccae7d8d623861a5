import { z } from 'zod';
import type { NoticePublisher, NoticeSender } from '../../channels/channel.ts';
import type { Build } from '../../domain/build.ts';
import { nameCategory } from '../../domain/category-words.ts';
import { answerView } from '../../notifications/answer-view.ts';
import { arrangeAnswers } from '../../notifications/build-answers.ts';
import { createNoticeLinks } from '../../notifications/notice-words.ts';
import { clip, toVisibleLine } from '../../notifications/visible-text.ts';
import type { Cause, Situation } from '../../ports/notices.ts';
import { parse, parseReply } from '../rest-client.ts';
import {
  callJenkins,
  checkJenkinsAddress,
  createJenkinsRefusal,
  type JenkinsAccess,
  readJenkins,
} from './client.ts';

/**
 * The format of descriptions: `html` if Jenkins formats them as safe HTML, `text` if it shows them literally.
 */
export type DescriptionFormat = 'html' | 'text';

/** The content for the description of one build. */
export interface JenkinsDescription {
  readonly build: Pick<Build, 'url' | 'externalId' | 'number' | 'pipeline'>;
  readonly text: string;
  readonly format: DescriptionFormat;
}

export interface DescriptionOptions {
  /** The public address of Faultline; null for no links. */
  readonly publicUrl: string | null;
  readonly format: DescriptionFormat;
}

/**
 * Returns the description of the newest build. Returns null while it is being analyzed or waits for a
 * person's answer, if it has not failed, and if no build is stored.
 */
export function renderJenkinsDescription(
  { heads }: Situation,
  options: DescriptionOptions,
): JenkinsDescription | null {
  const [head] = heads;
  if (head === undefined || head.build.status !== 'failed') return null;
  const { build, job, causes, question } = head;
  if (job !== null && job.state !== 'done' && job.state !== 'failed') return null;
  // The triage waits for the answer of a person.
  if (causes.length === 0 && question !== null) return null;
  const { url, externalId, number, pipeline } = build;
  const [first, ...others] = arrangeAnswers(causes);
  const text =
    first === undefined
      ? renderNotAnalyzed(job?.error ?? null, options)
      : formatSentence(first, others.length, options);
  return { build: { url, externalId, number, pipeline }, text, format: options.format };
}

function formatSentence(cause: Cause, others: number, options: DescriptionOptions): string {
  const plain = (text: string, limit: number) => formatExternalText(text, limit, options.format);
  const { analysis } = cause;
  const title = plain(analysis.answer.title.replaceAll('`', ''), 200).replace(/\.$/, '');
  const more = others === 0 ? '' : ` ${others} more ${others === 1 ? 'cause' : 'causes'}.`;
  return `${plain(describeCertainty(cause), 200)}: ${title}.${more}${linkTo(analysis.id, options)}`;
}

function describeCertainty({ analysis, review }: Cause): string {
  const decision = review?.decision ?? null;
  const { category, what, form, confirmed, confidence } = answerView(analysis);
  if (decision?.type === 'accept') return `${category}, confirmed by ${decision.reviewer}`;
  if (decision?.type === 'correct')
    return `${nameCategory(decision.category ?? analysis.category)}, corrected by ${decision.reviewer} (Faultline said ${category})`;
  if (decision?.type === 'reject') return `${category}, marked wrong by ${decision.reviewer}`;
  if (confirmed !== null) return `${category}, ${confirmed}`;
  if (what === null) return 'Not analyzed, needs review';
  return `${category} ${confidence}${form === 'unsure' ? ', needs review' : ''}`;
}

function renderNotAnalyzed(reason: string | null, { format }: DescriptionOptions): string {
  const sentence = formatExternalText(reason ?? 'no failure was found in its logs', 300, format);
  return `Faultline: not analyzed, ${sentence}`;
}

function linkTo(analysisId: string, { publicUrl, format }: DescriptionOptions): string {
  const url = createNoticeLinks(publicUrl).analysis(analysisId);
  if (url === null) return '';
  return format === 'html' ? ` <a href="${escapeHtml(url)}">why</a>` : ` Why: ${url}`;
}

/**
 * Formats external text for the description. In plain text, `‹` and `›` replace angle brackets, so that no
 * markup appears if the operator later lets Jenkins format descriptions as HTML.
 */
function formatExternalText(text: string, limit: number, format: DescriptionFormat): string {
  const line = clip(toVisibleLine(text), limit);
  return format === 'html' ? escapeHtml(line) : line.replaceAll('<', '\u2039').replaceAll('>', '\u203a');
}

function escapeHtml(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped.replaceAll('"', '&quot;').replaceAll("'", '&#39;');
}

/** Creates the publisher that keeps the description of each failed build up to date. */
export function createDescriptionPublisher(
  jenkins: JenkinsAccess,
  options: DescriptionOptions,
): NoticePublisher {
  return {
    render: (situation) => renderJenkinsDescription(situation, options),
    ...createDescriptionSender(jenkins),
  };
}

const MAX_REPLY_BYTES = 256 * 1024;
const DESCRIPTION = { what: 'the description of a build', right: 'the permission Run/Update on the job' };
const Described = z.object({ description: z.string().nullish() });

/**
 * Creates a sender for the description on the page of a Jenkins build. Pipelines write there too, so only the
 * sentence that was last sent, which is the reference, is replaced.
 */
export function createDescriptionSender(options: JenkinsAccess): NoticeSender<JenkinsDescription> {
  return {
    send: async ({ build, text, format }, { reference, signal }) => {
      const address = checkJenkinsAddress(options.baseUrl, build);
      const current = await readDescription(options, address, signal);
      const wanted = replaceSentence(current, {
        previous: reference,
        text,
        separator: format === 'html' ? '<br>\n' : '\n',
      });
      if (wanted !== current) await writeDescription(options, address, wanted, signal);
      return { reference: text };
    },
  };
}

interface Sentence {
  /** The text that was last written. Null if there is none. */
  readonly previous: string | null;
  readonly text: string;
  readonly separator: string;
}

function replaceSentence(current: string, { previous, text, separator }: Sentence): string {
  const at = previous === null || previous === '' ? -1 : current.indexOf(previous);
  if (previous !== null && at >= 0) return current.slice(0, at) + text + current.slice(at + previous.length);
  if (current.includes(text)) return current;
  return current.trim() === '' ? text : `${current}${separator}${text}`;
}

async function readDescription(options: JenkinsAccess, address: URL, signal: AbortSignal): Promise<string> {
  const url = new URL('api/json?tree=description', address);
  const text = await readJenkins(options, url, { ...DESCRIPTION, maxBytes: MAX_REPLY_BYTES, signal });
  return parseReply('Jenkins', Described, DESCRIPTION.what, parse(text)).description ?? '';
}

/**
 * Sends the description. Jenkins redirects to the build on success. Any other redirect counts as one to its
 * sign-in page.
 */
async function writeDescription(
  options: JenkinsAccess,
  address: URL,
  description: string,
  signal: AbortSignal,
): Promise<void> {
  const url = new URL('submitDescription', address);
  const body = new URLSearchParams({ description });
  const response = await callJenkins(options, url, DESCRIPTION.what, { method: 'POST', body, signal });
  await response.body?.cancel();
  if (response.ok) return;
  const location = response.headers.get('location');
  const isBack =
    location !== null &&
    URL.canParse(location, url.href) &&
    new URL(location, url).pathname.startsWith(address.pathname);
  if (response.status < 300 || response.status > 399 || !isBack)
    throw createJenkinsRefusal(DESCRIPTION.what, response.status, DESCRIPTION.right);
}
