import { TriageError } from '../../domain/errors.ts';
import type { Clock } from '../../lib/time.ts';
import { postOnce, signedHeaders, toBuildData } from '../publisher/webhook.ts';
import { clip } from '../visible-text.ts';
import type { Messenger, News, NewsItem } from './news.ts';

interface NewsWebhookOptions {
  /**
   * The addresses of webhooks, by name. They are configured, so they may be in a private network. Redirects
   * are never followed.
   */
  readonly webhooks: Readonly<Record<string, string>>;
  /**
   * The signing secrets, as `whsec_` and base64. There are several during a rotation, and all of them sign.
   */
  readonly secrets: readonly string[];
  readonly clock: Clock;
}

/**
 * Messages of rules as Standard Webhooks. After a crash one may be posted again, with the same `webhook-id`.
 */
export function createWebhookMessenger({ webhooks, secrets, clock }: NewsWebhookOptions): Messenger {
  const destinations = Object.keys(webhooks);
  const refusal = (name: string) =>
    Object.hasOwn(webhooks, name)
      ? null
      : `FAULTLINE_NOTIFY_WEBHOOKS has no webhook of this name. It has: ${destinations.join(', ')}.`;
  return {
    channel: 'webhook',
    destinations,
    refusal,
    send: async (news, name, { key, signal }) => {
      const wrong = refusal(name);
      if (wrong !== null) throw new TriageError('invalid-input', wrong);
      const body = newsBody(news, clock.now());
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'faultline',
        ...signedHeaders(key, body, secrets, clock.now()),
      };
      await postOnce('The webhook', webhooks[name] ?? '', { headers, body, signal }, clock);
      return { reference: null };
    },
  };
}

/**
 * Creates the message as JSON. Its texts are already masked, but they quote logs, so the receiver must escape
 * them.
 */
export function newsBody({ rule, headline, items, more, isTest }: News, now: number): string {
  const data = { rule, headline: cut(headline, 200), isTest, items: items.map(toItem), more };
  return JSON.stringify({ type: 'notification.sent', timestamp: new Date(now).toISOString(), data });
}

function toItem({ state, title, standing, facts, seen, links, build, analysis }: NewsItem): object {
  return {
    ...{ state, title: cut(title, 300), standing: cut(standing, 500), seen, url: links.answer },
    facts: Object.fromEntries(facts.map(({ label, text }) => [label, cut(text, 2_000)])),
    owners: analysis.owner?.names.slice(0, 10).map((name) => cut(name, 200)) ?? [],
    build: toBuildData(build),
    analysis: {
      ...{
        id: analysis.id,
        category: analysis.category,
        kind: analysis.kind,
        fingerprint: analysis.fingerprint,
      },
      confidence: analysis.verdict.confidence,
    },
  };
}

function cut(text: string, limit: number): string {
  return clip(text, limit).toWellFormed();
}
