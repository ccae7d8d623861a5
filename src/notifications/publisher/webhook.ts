import { createHmac } from 'node:crypto';
import type { Analysis } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { readText } from '../../lib/http-body.ts';
import { type Clock, retryAfter } from '../../lib/time.ts';
import type { Publisher } from '../../ports/notices.ts';
import { moreFacts } from '../answer-view.ts';

export interface WebhookOptions {
  /** Configured by the operator, so it may be in a private network. A redirect is never followed. */
  readonly url: string;
  /**
   * The signing secrets, as `whsec_` and base64. There are several during a rotation, and all of them sign.
   */
  readonly secrets: readonly string[];
  /**
   * The format of the message: Standard Webhooks, or a CloudEvent. Both are signed the same way; `standard`
   * if absent.
   */
  readonly format?: 'standard' | 'cloudevents';
  /** The public address of Faultline, which is the source of its events. */
  readonly publicUrl?: string | null;
  readonly clock: Clock;
}

/** More of an answer is not read. */
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_REFERENCE = 500;

/**
 * Posts answers to one address, signed according to Standard Webhooks. The other service cannot be asked what
 * it received: after a crash it may receive the same message again, with the same `webhook-id`, by which it
 * can be recognized.
 */
export function createWebhookPublisher({
  url,
  secrets,
  format = 'standard',
  publicUrl = null,
  clock,
}: WebhookOptions): Publisher {
  const type = format === 'cloudevents' ? 'application/cloudevents+json' : 'application/json';
  return {
    driver: 'webhook',
    publish: async (build, analysis, { key, signal }) => {
      signal.throwIfAborted();
      const body =
        format === 'cloudevents' ? cloudEvent(build, analysis, key, publicUrl) : webhookBody(build, analysis);
      const headers = {
        'content-type': type,
        'user-agent': 'faultline',
        ...signedHeaders(key, body, secrets, clock.now()),
      };
      const { response } = await postOnce('The webhook', url, { headers, body, signal }, clock);
      const location = response.headers.get('location');
      return { reference: location === null ? null : location.slice(0, MAX_REFERENCE) };
    },
  };
}

interface Post {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/**
 * Posts to a configured address. No redirect is followed, and of the answer no more than 64 kB are read.
 * Throws TriageError: `who` in its words, never the address, which may hold a password.
 */
export async function postOnce(
  who: string,
  url: string,
  post: Post,
  clock: Clock,
): Promise<{ readonly response: Response; readonly text: string }> {
  const response = await fetch(url, { method: 'POST', redirect: 'manual', ...post }).catch(
    (cause: unknown) => {
      throw new TriageError('upstream-failed', `${who} could not be reached.`, { retryable: true, cause });
    },
  );
  // Read to its end the connection can be used again; where it breaks off, the status came whole.
  const text = (await readText(response.body, MAX_ANSWER_BYTES).catch(() => null)) ?? '';
  if (!response.ok) throw refusal(who, response, clock.now());
  return { response, text };
}

function refusal(who: string, { status, headers }: Response, now: number): TriageError {
  if (status >= 300 && status < 400) {
    return new TriageError(
      'upstream-failed',
      `${who} returned ${status}: a redirect, which is not followed.`,
    );
  }
  const retryable = status >= 500 || status === 408 || status === 425 || status === 429;
  const retryAfterMs = retryable ? retryAfter(headers, now) : null;
  const code =
    status === 401 || status === 403 ? 'upstream-auth' : status === 429 ? 'rate-limited' : 'upstream-failed';
  return new TriageError(code, `${who} returned ${status}.`, {
    retryable,
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  });
}

/** The type of the event: an answer stands. */
const TYPE = 'io.faultline.analysis.finished';

/** The source of events if there is no public address. A path is a URI reference too. */
const NO_ADDRESS = '/faultline';

/**
 * Creates the same message as a CloudEvent 1.0 in structured mode. `id` is the key, the same in every
 * attempt; `subject` is the id of the analysis. In addition to the build and the answer, `data.pipelineRun`
 * identifies the build as CDEvents identify the subject of `dev.cdevents.pipelinerun.finished`, so that both
 * can be joined.
 */
export function cloudEvent(build: Build, analysis: Analysis, key: string, publicUrl: string | null): string {
  return JSON.stringify({
    specversion: '1.0',
    type: TYPE,
    source: publicUrl ?? NO_ADDRESS,
    id: key,
    subject: analysis.id,
    time: analysis.createdAt,
    datacontenttype: 'application/json',
    data: { ...webhookData(build, analysis), pipelineRun: toPipelineRun(build) },
  });
}

function toPipelineRun(build: Build): object {
  const { externalId, number, pipeline, status, url } = build;
  return {
    id: externalId ?? number,
    source: getOrigin(url),
    type: 'pipelineRun',
    content: {
      pipelineName: pipeline,
      ...(url === null ? {} : { url }),
      outcome: status === 'passed' ? 'success' : status === 'cancelled' ? 'cancel' : 'failure',
    },
  };
}

function getOrigin(url: string | null): string {
  return url !== null && URL.canParse(url) ? new URL(url).origin : NO_ADDRESS;
}

/** The prefix of a secret of Standard Webhooks, which 24 to 64 random bytes follow. */
const PREFIX = 'whsec_';

/**
 * Creates the headers of Standard Webhooks (standardwebhooks.com, version 1): an id that is the same in every
 * attempt, the time in seconds, and one signature per secret, so that secrets can be rotated.
 */
export function signedHeaders(
  key: string,
  body: string,
  secrets: readonly string[],
  now: number,
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const signatures = secrets.map((secret) => {
    const bytes = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', bytes).update(`${key}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': key, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

const MAX_TEXT = 4_000;
const MAX_ITEMS = 10;

/**
 * Creates the message as JSON: the build, the answer, and the lines that prove it. Limited to about 200 KB
 * whatever the answer contains. Its texts are already masked, but they quote logs, so the receiver must
 * escape them.
 */
export function webhookBody(build: Build, analysis: Analysis): string {
  return JSON.stringify({
    type: 'analysis.concluded',
    timestamp: analysis.createdAt,
    data: webhookData(build, analysis),
  });
}

function webhookData(build: Build, analysis: Analysis): object {
  return { build: toBuildData(build), analysis: toAnswerData(analysis) };
}

/** Returns the fields of a build that every webhook sends. */
export function toBuildData({
  id,
  provider,
  repository,
  pipeline,
  number,
  attempt,
  branch,
  commit,
  pullRequest,
  url,
}: Build): object {
  return { id, provider, repository, pipeline, number, attempt, branch, commit, pullRequest, url };
}

function toAnswerData(analysis: Analysis): object {
  const { id, category, kind, answer, verdict, recalled, failureIds, fingerprint, createdAt } = analysis;
  return {
    ...{ id, category, kind, fingerprint, createdAt },
    failures: failureIds.length,
    confidence: verdict.confidence,
    title: cut(answer.title),
    rootCause: cut(answer.rootCause),
    fixRecommendation: cut(answer.fixRecommendation),
    claims: answer.claims.slice(0, MAX_ITEMS).map(({ text, quotes }) => ({
      text: cut(text),
      quotes: quotes
        .slice(0, MAX_ITEMS)
        .map((quote) => ({ source: quote.source, line: quote.line, text: cut(quote.text).slice(0, 500) })),
    })),
    suspects: answer.suspects.slice(0, MAX_ITEMS),
    confirmedBy: recalled?.confirmedBy ?? null,
    facts: moreFacts(analysis),
  };
}

function cut(text: string): string {
  return text.slice(0, MAX_TEXT).toWellFormed();
}
