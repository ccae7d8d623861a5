import { z } from 'zod';
import { createUrlSchema, defineSetting, extractPassword } from '../config/variable.ts';
import { splitList } from '../lib/text.ts';
import { breakLinks, clip, toHtml, toVisibleLine } from '../notifications/visible-text.ts';
import { type Check, ok } from '../ports/health.ts';
import type { Channel, Publisher } from './channel.ts';
import { formatStateWord, type News, type NewsItem } from './news.ts';
import type { SmtpServer } from './smtp.ts';

const loadSmtp = () => import('./smtp.ts');

/** The settings for e-mail over SMTP. */
export const EmailSettings = z
  .object({
    smtpUrl: defineSetting(
      'FAULTLINE_SMTP_URL',
      createUrlSchema(['smtp', 'smtps']).nullable().default(null),
      'SMTP server for e-mails of notification rules, as smtps://user:password@host:465 or ' +
        'smtp://host:587. A password is sent encrypted only.',
      { secret: true },
    ),
    smtpFrom: defineSetting(
      'FAULTLINE_SMTP_FROM',
      z.string().min(3).max(300).nullable().default(null),
      'Sender of these emails, such as `Faultline <ci@example.com>`.',
    ),
    domains: defineSetting(
      'FAULTLINE_EMAIL_DOMAINS',
      z.array(z.string().min(1).toLowerCase()).default([]),
      'Domains that these e-mails may go to, separated by commas. If unset, only the domain of the sender.',
    ),
  })
  .refine(({ smtpUrl, smtpFrom }) => smtpUrl === null || smtpFrom !== null, {
    path: ['smtpFrom'],
    error: 'is not set, but e-mails need a sender',
  });
type EmailSettings = z.infer<typeof EmailSettings>;

interface Server extends SmtpServer {
  readonly from: string;
}

const MAX_RECIPIENTS = 20;
const Address = z.email();

/**
 * Sends messages of rules as e-mail. Sent messages cannot be looked up, so a message may be sent twice after
 * a crash, with the same Message-ID.
 */
export function createEmailChannel(
  { smtpUrl: url, smtpFrom: from, domains }: EmailSettings,
  timeLimitMs: number,
): Channel {
  const server = url === null || from === null ? null : { url, from, timeLimitMs };
  const allowed = domains.length > 0 ? domains : [extractDomain(from ?? '')];
  return {
    name: 'email',
    secrets: [extractPassword(url) ?? ''],
    messages: {
      label: 'E-mail',
      setting: 'FAULTLINE_SMTP_URL',
      destinations: null,
      refusal: (destination) => findRefusal(destination, allowed),
      open: server === null ? null : async () => createPublisher(server),
    },
    checks: () => (server === null ? [] : [createCheck(server)]),
  };
}

function createPublisher(server: Server): Publisher<News, string, Email> {
  return {
    render: renderEmail,
    send: async ({ rule, ...content }, { to, key, signal }) => {
      const mail = { ...content, from: server.from, to: splitList(to) };
      const messageId = `<${key}@${extractDomain(server.from)}>`;
      const headers = { 'Auto-Submitted': 'auto-generated', 'X-Faultline-Rule': rule };
      const { withTransport } = await loadSmtp();
      const sent = await withTransport(server, signal, (transport) =>
        transport.sendMail({ ...mail, messageId, headers }),
      );
      return { reference: sent.messageId.slice(0, 300) };
    },
  };
}

const REMEDY =
  'check FAULTLINE_SMTP_URL: host, port, user and password; smtps:// is for servers that encrypt ' +
  'from the start';

/** Creates the check that signs in without sending anything. */
function createCheck(server: Server): Check {
  return {
    name: 'smtp',
    remedy: REMEDY,
    ask: async (signal) => {
      const { withTransport } = await loadSmtp();
      await withTransport(server, signal, (transport) => transport.verify());
      return ok('smtp', `${new URL(server.url).host} accepts us, as ${server.from}`);
    },
  };
}

function findRefusal(destination: string, domains: readonly string[]): string | null {
  const addresses = splitList(destination);
  if (addresses.length === 0 || addresses.length > MAX_RECIPIENTS)
    return `Name 1 to ${MAX_RECIPIENTS} e-mail addresses, separated by commas.`;
  const broken = addresses.find((candidate) => !Address.safeParse(candidate).success);
  if (broken !== undefined) return `${clip(toVisibleLine(broken), 100)} is not an e-mail address.`;
  const other = addresses.map(extractDomain).find((domain) => !domains.includes(domain));
  return other === undefined
    ? null
    : `E-mails to ${other} are not allowed. FAULTLINE_EMAIL_DOMAINS allows: ${domains.join(', ')}.`;
}

/** Extracts the domain of an e-mail address: "Faultline <ci@example.com>" → "example.com". */
function extractDomain(address: string): string {
  return (/@([^@>\s]+)>?\s*$/.exec(address)?.[1] ?? 'localhost').toLowerCase();
}

interface Email {
  /** The ID of the rule. */
  readonly rule: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const HEAD =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"></head>' +
  '<body style="font: 15px/1.5 sans-serif">';

/**
 * Renders the message as plain text and as HTML, which loads nothing. Addresses in untrusted text do not
 * become links, as far as mail clients respect that.
 */
export function renderEmail({ rule, headline, items, more, isTest }: News): Email {
  const moreLine = more === 0 ? [] : [`… ${more} more ${more === 1 ? 'cause' : 'causes'}`];
  const test = isTest ? ['This is a test message.'] : [];
  const foot = `Rule: ${toPlainText(rule.name, 100)}`;
  const text = [...test, ...items.map(renderText), ...moreLine, `-- \n${foot}`].join('\n\n');
  const parts = [
    ...test.map((line) => `<p>${line}</p>`),
    ...items.map(renderHtml),
    ...moreLine.map((line) => `<p>${toHtml(line)}</p>`),
  ];
  const end = `<p style="color: #666">Rule: ${toHtml(clip(rule.name, 100))}</p></body></html>`;
  const body = `${HEAD}${parts.join('\n')}${end}`;
  return {
    rule: rule.id,
    subject: `[Faultline] ${toPlainText(headline, 150)}`,
    text: `${text}\n`,
    html: body,
  };
}

function renderText({ state, title, standing, place, facts, seen, links }: NewsItem): string {
  return [
    `${state === null ? '' : `${formatStateWord(state)}: `}${toPlainText(title, 200)}`,
    toPlainText(standing, 300),
    `${toPlainText(place, 300)}${seen === 1 ? '' : ` · ${seen}×`}`,
    ...facts.map(({ label, text }) => `${label}: ${toPlainText(text, 500)}`),
    ...(links.answer === null ? [] : [links.answer]),
  ].join('\n');
}

function toPlainText(text: string, limit: number): string {
  return breakLinks(clip(toVisibleLine(text), limit));
}

function renderHtml({ state, title, standing, place, facts, seen, links }: NewsItem): string {
  const ways = [
    { words: 'Open', url: links.answer },
    { words: 'Build', url: links.build },
  ].flatMap(({ words, url }) => (url === null ? [] : [`<a href="${attribute(url)}">${words}</a>`]));
  return `<div style="border-left: 3px solid #888; padding-left: 10px; margin: 16px 0">
<p><strong>${state === null ? '' : `${formatStateWord(state)}: `}${toHtml(clip(title, 200))}</strong><br>${toHtml(clip(standing, 300))}<br>${toHtml(clip(place, 300))}${seen === 1 ? '' : ` · ${seen}×`}</p>
${facts.map(({ label, text }) => `<p>${label}: ${toHtml(clip(text, 500))}</p>`).join('\n')}
<p>${ways.join(' · ')}</p></div>`;
}

function attribute(url: string): string {
  return url
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
