import type { SentMessageInfo, Transporter } from 'nodemailer';
import { createTransport } from 'nodemailer';
import { z } from 'zod';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { extractDomain } from '../../domain/notification-rule.ts';
import { listedIn } from '../../lib/text.ts';
import { orAborted } from '../../lib/time.ts';
import { breakLinks, clip, html, visibleLine } from '../visible-text.ts';
import { type Messenger, type News, type NewsItem, stateWord } from './news.ts';

export interface EmailOptions {
  /** smtp://user:password@host:587 or smtps://…; configured, so it may be in a private network. */
  readonly url: string;
  readonly from: string;
  /** Domains that may be written to. */
  readonly domains: readonly string[];
  /** Time limit of one response of the server, in milliseconds. */
  readonly timeLimitMs: number;
}

const MAX_RECIPIENTS = 20;
const Address = z.email();

/**
 * Messages of rules as e-mail, over SMTP. What was sent cannot be looked for: after a crash it may be sent
 * again, with the same Message-ID.
 */
export function createEmailMessenger(options: EmailOptions): Messenger {
  const refusal = (destination: string) => findRefusal(destination, options.domains);
  return {
    channel: 'email',
    destinations: null,
    refusal,
    send: async (news, destination, { key, signal }) => {
      const wrong = refusal(destination);
      if (wrong !== null) throw new TriageError('invalid-input', wrong);
      const { subject, text, html: markup } = renderEmail(news);
      const mail = { from: options.from, to: listedIn(destination), subject, text, html: markup };
      const messageId = `<${key}@${extractDomain(options.from)}>`;
      const headers = { 'Auto-Submitted': 'auto-generated', 'X-Faultline-Rule': news.rule.id };
      const sent = await withTransport(options, signal, (transport) =>
        transport.sendMail({ ...mail, messageId, headers }),
      );
      return { reference: sent.messageId.slice(0, 300) };
    },
  };
}

/** Signs in without sending anything, and says where. Throws TriageError. */
export async function checkSmtp(options: EmailOptions, signal: AbortSignal): Promise<string> {
  await withTransport(options, signal, (transport) => transport.verify());
  return `${new URL(options.url).host} accepts us, as ${options.from}`;
}

async function withTransport<Result>(
  { url, timeLimitMs }: EmailOptions,
  signal: AbortSignal,
  use: (transport: Transporter<SentMessageInfo>) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const { protocol, hostname, port, username, password } = new URL(url);
  const isSecure = protocol === 'smtps:';
  const user = decodeURIComponent(username);
  const limits = {
    connectionTimeout: timeLimitMs,
    greetingTimeout: timeLimitMs,
    socketTimeout: timeLimitMs,
    dnsTimeout: timeLimitMs,
  };
  const transport = createTransport({
    ...{
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? (isSecure ? 465 : 587) : Number(port),
      secure: isSecure,
    },
    ...(user !== '' && { auth: { user, pass: decodeURIComponent(password) } }),
    // A password crosses a network encrypted, or not at all.
    requireTLS: !isSecure && user !== '' && !/^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname),
    ...{ ...limits, disableFileAccess: true, disableUrlAccess: true },
  });
  try {
    return await orAborted(use(transport), signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw toTriageError(error);
  } finally {
    transport.close();
  }
}

const Thrown = z.object({ code: z.string().optional(), responseCode: z.int().optional() });

/**
 * Converts an error of SMTP: 4xx is temporary, 5xx is not. Its own message may contain addresses, so only the
 * code is repeated.
 */
function toTriageError(error: unknown): TriageError {
  const { code, responseCode } = Thrown.safeParse(error).data ?? {};
  if (code === 'EAUTH')
    return new TriageError(
      'upstream-auth',
      'The SMTP server does not accept the user or password in FAULTLINE_SMTP_URL.',
      {
        cause: error,
      },
    );
  if (responseCode !== undefined)
    return new TriageError('upstream-failed', `The SMTP server returned ${responseCode}.`, {
      retryable: responseCode < 500,
      cause: error,
    });
  if (code === 'ETLS')
    return new TriageError(
      'upstream-failed',
      'The SMTP server offers no encryption, so the password was not sent.',
      { cause: error },
    );
  if (code === undefined)
    return new TriageError('internal', `The e-mail could not be written: ${getErrorMessage(error)}`, {
      cause: error,
    });
  return new TriageError('upstream-failed', `The SMTP server could not be reached (${code}).`, {
    retryable: true,
    cause: error,
  });
}

function findRefusal(destination: string, domains: readonly string[]): string | null {
  const addresses = listedIn(destination);
  if (addresses.length === 0 || addresses.length > MAX_RECIPIENTS)
    return `Name 1 to ${MAX_RECIPIENTS} e-mail addresses, separated by commas.`;
  const broken = addresses.find((one) => !Address.safeParse(one).success);
  if (broken !== undefined) return `${clip(visibleLine(broken), 100)} is not an e-mail address.`;
  const other = addresses.map(extractDomain).find((domain) => !domains.includes(domain));
  return other === undefined
    ? null
    : `E-mails to ${other} are not allowed. FAULTLINE_EMAIL_DOMAINS allows: ${domains.join(', ')}.`;
}

interface Email {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/**
 * Renders the message as plain text and as HTML, which loads nothing. Addresses in untrusted text do not
 * become links, as far as mail clients respect that.
 */
export function renderEmail({ rule, headline, items, more, isTest }: News): Email {
  const moreLine = more === 0 ? [] : [`… ${more} more ${more === 1 ? 'cause' : 'causes'}`];
  const test = isTest ? ['This is a test message.'] : [];
  const foot = `Rule: ${plain(rule.name, 100)}`;
  const text = [...test, ...items.map(renderText), ...moreLine, `-- \n${foot}`].join('\n\n');
  const parts = [
    ...test.map((one) => `<p>${one}</p>`),
    ...items.map(renderHtml),
    ...moreLine.map((one) => `<p>${html(one)}</p>`),
  ];
  const body = `<!doctype html><html lang="en"><head><meta charset="utf-8"></head><body style="font: 15px/1.5 sans-serif">${parts.join('\n')}<p style="color: #666">Rule: ${html(clip(rule.name, 100))}</p></body></html>`;
  return { subject: `[Faultline] ${plain(headline, 150)}`, text: `${text}\n`, html: body };
}

function renderText({ state, title, standing, place, facts, seen, links }: NewsItem): string {
  return [
    `${state === null ? '' : `${stateWord(state)}: `}${plain(title, 200)}`,
    plain(standing, 300),
    `${plain(place, 300)}${seen === 1 ? '' : ` · ${seen}×`}`,
    ...facts.map(({ label, text }) => `${label}: ${plain(text, 500)}`),
    ...(links.answer === null ? [] : [links.answer]),
  ].join('\n');
}

function plain(text: string, limit: number): string {
  return breakLinks(clip(visibleLine(text), limit));
}

function renderHtml({ state, title, standing, place, facts, seen, links }: NewsItem): string {
  const ways = [
    { words: 'Open', url: links.answer },
    { words: 'Build', url: links.build },
  ].flatMap(({ words, url }) => (url === null ? [] : [`<a href="${attribute(url)}">${words}</a>`]));
  return `<div style="border-left: 3px solid #888; padding-left: 10px; margin: 16px 0">
<p><strong>${state === null ? '' : `${stateWord(state)}: `}${html(clip(title, 200))}</strong><br>${html(clip(standing, 300))}<br>${html(clip(place, 300))}${seen === 1 ? '' : ` · ${seen}×`}</p>
${facts.map(({ label, text }) => `<p>${label}: ${html(clip(text, 500))}</p>`).join('\n')}
<p>${ways.join(' · ')}</p></div>`;
}

function attribute(url: string): string {
  return url
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
