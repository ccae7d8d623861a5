import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { createHttpUrlSchema, defineSetting } from '../config/variable.ts';
import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import { EventGroup, type PublishedEvent } from '../domain/published-event.ts';
import type { Clock } from '../lib/time.ts';
import { collectMoreFacts } from '../notifications/answer-view.ts';
import { clip } from '../notifications/visible-text.ts';
import type { Answer, Call, Channel, Sent } from './channel.ts';
import { createCdEvent, createCloudEvent, wrapPublishedEvent } from './cloud-events.ts';
import { createEventData, getEventTime } from './event-data.ts';
import type { News, NewsItem } from './news.ts';
import { createNamedWebhooks, listDestinations, postOnce } from './post.ts';

const SigningSecret = z
  .string()
  .regex(
    /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/,
    'must be whsec_ followed by the base64 of 24 to 64 random bytes',
  );

const FORMATS = ['standard', 'cloudevents', 'cdevents'] as const;
type Format = (typeof FORMATS)[number];

function isFormat(name: Format | EventGroup): name is Format {
  return FORMATS.some((format) => format === name);
}

/**
 * The settings for signed webhooks: one to which every confident answer is posted, and others to which rules
 * may post.
 */
export const WebhookSettings = z
  .object({
    url: defineSetting(
      'FAULTLINE_PUBLISH_WEBHOOK_URL',
      createHttpUrlSchema().nullable().default(null),
      'URL to which confident answers are posted, signed per Standard Webhooks. It may be private.',
    ),
    /** The signing secrets. Messages are signed with all of them. There are two while one is rotated. */
    secrets: defineSetting(
      'FAULTLINE_PUBLISH_WEBHOOK_SECRET',
      z.array(SigningSecret).default([]),
      'Signing secret, as whsec_ plus base64. Two secrets, separated by a comma, during rotation.',
      { secret: true },
    ),
    /** The format of the messages, and the events to send in addition to answers. All are signed. */
    formats: defineSetting(
      'FAULTLINE_PUBLISH_WEBHOOK_FORMAT',
      z
        .array(z.enum([...FORMATS, ...EventGroup.options]))
        .refine((all) => all.filter(isFormat).length <= 1, `must name at most one of ${FORMATS.join(', ')}`)
        .default(['standard']),
      'Format: standard (Standard Webhooks), cloudevents (CloudEvents 1.0 in structured mode) or cdevents ' +
        '(CDEvents 0.5 in CloudEvents). Add decisions or outcomes, separated by commas, to receive these ' +
        'events too.',
    ),
    webhooks: createNamedWebhooks(
      'FAULTLINE_NOTIFY_WEBHOOKS',
      'Other webhooks that notification rules may post to, as name=https://…, separated by commas. ' +
        'They may be private.',
    ),
    webhookSecrets: defineSetting(
      'FAULTLINE_NOTIFY_WEBHOOK_SECRET',
      z.array(SigningSecret).default([]),
      'Signing secret of these webhooks, as whsec_ plus base64. Two secrets, separated by a comma, ' +
        'during rotation.',
      { secret: true },
    ),
  })
  .refine(({ url, secrets }) => url === null || secrets.length > 0, {
    path: ['secrets'],
    error: 'the webhook needs a signing secret',
  })
  .refine(({ webhooks, webhookSecrets }) => Object.keys(webhooks).length === 0 || webhookSecrets.length > 0, {
    path: ['webhookSecrets'],
    error: 'the webhooks need a signing secret',
  });
type WebhookSettings = z.infer<typeof WebhookSettings>;

const WHO = 'The webhook';
const JSON_TYPE = 'application/json';
const CLOUD_EVENT_TYPE = 'application/cloudevents+json';
const MEDIA_TYPES = { standard: JSON_TYPE, cloudevents: CLOUD_EVENT_TYPE, cdevents: CLOUD_EVENT_TYPE };
const MAX_REFERENCE = 500;

/**
 * Posts to webhooks, signed according to Standard Webhooks. The receiver cannot be asked for earlier
 * messages, so it may receive a message twice after a crash. Both have the same `webhook-id`.
 */
export function createWebhookChannel(settings: WebhookSettings): Channel {
  const { url, secrets, formats, webhooks, webhookSecrets } = settings;
  const format = formats.find(isFormat) ?? 'standard';
  const groups = EventGroup.options.filter((group) => formats.includes(group));
  return {
    name: 'webhook',
    secrets: [...secrets, ...webhookSecrets, ...Object.values(webhooks)],
    ...(url !== null && {
      answers: async ({ clock, publicUrl }) => ({
        render: (answer) => answer,
        send: async (answer: Answer, call) => {
          const data = toData(answer.build, answer.analysis);
          const event = { ...answer, key: call.key, publicUrl, data };
          const body =
            format === 'standard' ? createAnswerBody(answer) : JSON.stringify(EVENT_FORMATS[format](event));
          return await postAnswer({ url, secrets, type: MEDIA_TYPES[format], body, call, clock });
        },
      }),
    }),
    ...(url !== null &&
      groups.length > 0 && {
        events: {
          groups,
          open: async ({ clock, publicUrl }) => ({
            render: (known) => known,
            send: async (known: PublishedEvent, call) => {
              const data = { build: toBuildData(known.build), ...createEventData(known) };
              const message = { type: known.event.type, timestamp: getEventTime(known.event), data };
              const event =
                format === 'standard'
                  ? message
                  : wrapPublishedEvent(known, { ...message, key: call.key, publicUrl });
              const body = JSON.stringify(event);
              return await postAnswer({ url, secrets, type: MEDIA_TYPES[format], body, call, clock });
            },
          }),
        },
      }),
    messages: {
      label: 'Webhook',
      setting: 'FAULTLINE_NOTIFY_WEBHOOKS',
      ...listDestinations('FAULTLINE_NOTIFY_WEBHOOKS', webhooks),
      open:
        Object.keys(webhooks).length === 0
          ? null
          : async ({ clock }) => ({
              render: (news) => news,
              send: async (news: News, call) => {
                const body = createNewsBody(news, clock.now());
                const to = { url: webhooks[call.to] ?? '', secrets: webhookSecrets };
                await postSigned({ ...to, type: JSON_TYPE, body, call, clock });
                return { reference: null };
              },
            }),
    },
    checks: () => [],
  };
}

interface SignedPost {
  readonly url: string;
  readonly secrets: readonly string[];
  readonly type: string;
  readonly body: string;
  readonly call: Call<unknown>;
  readonly clock: Clock;
}

/** Posts a message and returns the address that the receiver gave it. */
async function postAnswer(post: SignedPost): Promise<Sent> {
  const { headers } = await postSigned(post);
  return { reference: headers.get('location')?.slice(0, MAX_REFERENCE) ?? null };
}

async function postSigned({ url, secrets, type, body, call, clock }: SignedPost): Promise<Response> {
  const { key, signal } = call;
  signal.throwIfAborted();
  const headers = {
    'content-type': type,
    'user-agent': 'faultline',
    ...createSignedHeaders(key, body, secrets, clock.now()),
  };
  return (await postOnce(WHO, url, { headers, body, signal }, clock)).response;
}

const EVENT_FORMATS = { cloudevents: createCloudEvent, cdevents: createCdEvent } as const;

/** The prefix of a secret of Standard Webhooks, which 24 to 64 random bytes follow. */
const PREFIX = 'whsec_';

/**
 * Creates the headers of Standard Webhooks (standardwebhooks.com, version 1): an id that is the same in every
 * attempt, the time in seconds, and one signature per secret, so that secrets can be rotated.
 */
export function createSignedHeaders(
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
 * Creates the message as JSON: the build, the answer, and the lines that prove it. It is limited to about 200
 * KB whatever the answer contains. Its texts are already masked, but they quote logs, so the receiver must
 * escape them.
 */
export function createAnswerBody({ build, analysis }: Answer): string {
  const data = toData(build, analysis);
  return JSON.stringify({ type: 'analysis.concluded', timestamp: analysis.createdAt, data });
}

function toData(build: Build, analysis: Analysis): object {
  return { build: toBuildData(build), analysis: toAnswerData(analysis) };
}

/** Returns the fields of a build that every webhook sends. */
function toBuildData({
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
    id,
    category,
    kind,
    fingerprint,
    createdAt,
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
    facts: collectMoreFacts(analysis),
  };
}

function cut(text: string): string {
  return text.slice(0, MAX_TEXT).toWellFormed();
}

/**
 * Creates the message as JSON. Its texts are already masked, but they quote logs, so the receiver must escape
 * them.
 */
function createNewsBody({ rule, headline, items, more, isTest }: News, now: number): string {
  const data = { rule, headline: clipText(headline, 200), isTest, items: items.map(toItemData), more };
  return JSON.stringify({ type: 'notification.sent', timestamp: new Date(now).toISOString(), data });
}

function toItemData({ state, title, standing, facts, seen, links, build, analysis }: NewsItem): object {
  return {
    state,
    title: clipText(title, 300),
    standing: clipText(standing, 500),
    seen,
    url: links.answer,
    facts: Object.fromEntries(facts.map(({ label, text }) => [label, clipText(text, 2_000)])),
    owners: analysis.owner?.names.slice(0, 10).map((name) => clipText(name, 200)) ?? [],
    build: toBuildData(build),
    analysis: {
      id: analysis.id,
      category: analysis.category,
      kind: analysis.kind,
      fingerprint: analysis.fingerprint,
      confidence: analysis.verdict.confidence,
    },
  };
}

function clipText(text: string, limit: number): string {
  return clip(text, limit).toWellFormed();
}
