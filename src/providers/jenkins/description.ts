import { z } from 'zod';
import type { Build } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { readText } from '../../lib/http-body.ts';
import { answerView } from '../../notifications/answer-view.ts';
import { noticeChannel } from '../../notifications/notices.ts';
import { clip, visibleLine } from '../../notifications/visible-text.ts';
import type { Cause, NoticeChannel, NoticeRule, NotificationClient, Situation } from '../../ports/notices.ts';
import { basicAuth } from '../probe.ts';
import { jenkinsAddress } from './api.ts';

/** `html` where Jenkins formats descriptions as safe HTML, `text` where it shows them as they are. */
export type DescriptionFormat = 'html' | 'text';

/** What is to be in the description of one build. */
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

/** The sentence for the build's page. Null while it is inspected, and of a build that has not failed. */
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
  const { category, what, form, confirmed, confidence } = answerView(analysis);
  if (decision?.type === 'accept') return `${category}, confirmed by ${decision.reviewer}`;
  if (decision?.type === 'correct')
    return `${decision.category ?? category}, corrected by ${decision.reviewer} (Faultline said ${category})`;
  if (decision?.type === 'reject') return `${category}, marked wrong by ${decision.reviewer}`;
  if (confirmed !== null) return `${category}, ${confirmed}`;
  if (what === null) return 'Not analyzed, needs review';
  return `${category} ${confidence}${form === 'unsure' ? ', needs review' : ''}`;
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

/** The description of each failed build, kept in step with what is known of it. */
export function descriptionChannel(rule: NoticeRule, jenkins: JenkinsClientOptions, options: DescriptionOptions): NoticeChannel {
  return noticeChannel({ rule, render: (situation) => jenkinsDescription(situation, options), client: createJenkinsClient(jenkins) });
}

export interface JenkinsClientOptions {
  /** Builds elsewhere are never spoken of: the token goes to this Jenkins only. */
  readonly baseUrl: string | null;
  readonly user: string | null;
  /** An API token of that user, who needs the right Run/Update. A token needs no crumb. */
  readonly token: string | null;
}

const MAX_ANSWER_BYTES = 256 * 1024;
const Described = z.object({ description: z.string().nullish() });

/**
 * The description on a Jenkins build's page, which pipelines write too: only our own sentence in it is replaced, which the reference
 * names word for word; what others wrote stays.
 */
export function createJenkinsClient(options: JenkinsClientOptions): NotificationClient<JenkinsDescription> {
  return {
    show: async ({ build, text, format }, { notice, signal }) => {
      const address = jenkinsAddress(options.baseUrl, build);
      const current = await readDescription(options, address, signal);
      const wanted = withOurs(current, { ours: notice.reference, text, separator: format === 'html' ? '<br>\n' : '\n' });
      if (wanted !== current) await writeDescription(options, address, wanted, signal);
      return { reference: text };
    },
  };
}

interface Sentence {
  /** As it was written last; null: never. */
  readonly ours: string | null;
  readonly text: string;
  readonly separator: string;
}

function withOurs(current: string, { ours, text, separator }: Sentence): string {
  const at = ours === null || ours === '' ? -1 : current.indexOf(ours);
  if (ours !== null && at >= 0) return current.slice(0, at) + text + current.slice(at + ours.length);
  if (current.includes(text)) return current;
  return current.trim() === '' ? text : `${current}${separator}${text}`;
}

async function readDescription(options: JenkinsClientOptions, address: URL, signal: AbortSignal): Promise<string> {
  const response = await call(options, new URL('api/json?tree=description', address), { signal });
  if (!response.ok) throw statusError(response.status, 'read');
  const parsed = Described.safeParse(await jsonOf(response));
  if (!parsed.success) throw new TriageError('upstream-failed', 'Jenkins did not return JSON for a build.');
  return parsed.data.description ?? '';
}

/** Jenkins answers with a redirect to the build; one to elsewhere leads to a sign-in. */
async function writeDescription(options: JenkinsClientOptions, address: URL, description: string, signal: AbortSignal): Promise<void> {
  const url = new URL('submitDescription', address);
  const response = await call(options, url, { method: 'POST', body: new URLSearchParams({ description }), signal });
  await response.body?.cancel();
  if (response.ok) return;
  const location = response.headers.get('location');
  const isBack = location !== null && URL.canParse(location, url.href) && new URL(location, url).pathname.startsWith(address.pathname);
  if (response.status < 300 || response.status > 399 || !isBack) throw statusError(response.status, 'change');
}

async function call(
  { user, token }: JenkinsClientOptions,
  url: URL,
  init: Pick<RequestInit, 'method' | 'body' | 'signal'>,
): Promise<Response> {
  const known = user !== null && token !== null;
  const headers = known ? { authorization: basicAuth(user, token) } : {};
  try {
    return await fetch(url, { ...init, headers, redirect: 'manual' });
  } catch (cause) {
    // Without its words: they may hold the address.
    throw new TriageError('upstream-failed', 'Jenkins could not be reached to read or change a build description.', {
      retryable: true,
      cause,
    });
  }
}

async function jsonOf(response: Response): Promise<unknown> {
  const text = await readText(response.body, MAX_ANSWER_BYTES);
  if (text === null) throw new TriageError('too-large', 'The description of a Jenkins build is larger than 256 kB.');
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function statusError(status: number, what: 'read' | 'change'): TriageError {
  const says = `Jenkins returned ${status} when the description of a build was ${what === 'read' ? 'read' : 'changed'}.`;
  if (status === 401 || status === 403 || (status >= 300 && status < 400)) {
    const needs = 'FAULTLINE_JENKINS_USER and FAULTLINE_JENKINS_TOKEN need the permission Run/Update on the job.';
    return new TriageError('upstream-auth', `${says} ${needs}`);
  }
  if (status === 404 || status === 410) return new TriageError('not-found', `${says} The build may have been deleted.`);
  return new TriageError('upstream-failed', says, { retryable: status >= 500 || status === 429 });
}
