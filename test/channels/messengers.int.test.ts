import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listExternalChecks } from '../../src/app/external-checks.ts';
import type { Call, Channel } from '../../src/channels/channel.ts';
import { createEmailChannel, EmailSettings } from '../../src/channels/email.ts';
import type { News } from '../../src/channels/news.ts';
import { createSlackChannel, SlackSettings } from '../../src/channels/slack.ts';
import { createTeamsChannel } from '../../src/channels/teams.ts';
import { createSignedHeaders, createWebhookChannel, WebhookSettings } from '../../src/channels/webhook.ts';
import { createEmbeddedPreset } from '../../src/config/load.ts';
import { parseConfig } from '../../src/config/schema.ts';
import { readText } from '../../src/lib/http-body.ts';
import { type LoopbackServer, startLoopback } from '../support/loopback-server.ts';
import { sampleAnalysis } from '../support/sample-analysis.ts';
import { SLACK_TOKEN, startSlackApi } from '../support/slack-api.ts';
import { type SmtpServer, startSmtp } from '../support/smtp-server.ts';
import { sampleNews } from './sample-news.ts';
import { callTo, createChannelParts, openNews, send } from './sending.ts';
import { sampleCause } from './slack/slack-world.ts';

/** Sends a message of a rule through a channel. */
async function sendNews(channel: Channel, to: string, change: Partial<Call<string>> = {}, news?: News) {
  const messenger = await openNews(channel);
  return await send(messenger, news ?? (await sampleNews()), callTo(to, { key: 'ntm_1', ...change }));
}

describe('68: an e-mail', () => {
  let smtp: SmtpServer;
  beforeEach(async () => {
    smtp = await startSmtp();
  });
  afterEach(async () => await smtp.close());
  const channel = (smtpUrl: string, timeLimitMs = 2_000) =>
    createEmailChannel(EmailSettings.parse({ smtpUrl, smtpFrom: 'Faultline <ci@example.com>' }), timeLimitMs);
  const email = (user = '', timeLimitMs = 2_000) =>
    channel(`smtp://${user}127.0.0.1:${smtp.port}`, timeLimitMs);

  it('is sent over SMTP as text and HTML, with a Message-ID that stays the same', async () => {
    const sent = await sendNews(email('ci:p%40ss@'), 'ada@example.com, ben@example.com');
    expect(sent).toEqual({ reference: '<ntm_1@example.com>' });
    expect(smtp.signIns).toEqual(['ci p@ss']);
    const [mail] = smtp.mails;
    expect(mail).toMatchObject({ from: 'ci@example.com', to: ['ada@example.com', 'ben@example.com'] });
    expect(mail?.text).toContain('Subject: [Faultline] The cart total is rounded twice');
    expect(mail?.text).toContain('Message-ID: <ntm_1@example.com>');
    expect(mail?.text).toContain('Auto-Submitted: auto-generated');
    expect(mail?.text).toContain('Content-Type: text/plain; charset=utf-8');
    expect(mail?.text).toContain('https://fl.example/analyses/ana_9f2c');
    // Quoted-printable wraps long lines.
    expect(mail?.text.replaceAll(/=\r?\n/g, '')).toContain(
      '<a href=3D"https://fl.example/analyses/ana_9f2c">Open</a>',
    );
  });

  it('is sent to the allowed domains only', async () => {
    expect(email().messages?.refusal('ada@example.com')).toBeNull();
    expect(email().messages?.refusal('ada@evil.example')).toContain(
      'E-mails to evil.example are not allowed.',
    );
    expect(email().messages?.refusal('ada')).toBe('ada is not an e-mail address.');
    expect(email().messages?.refusal('ada@example.com\r\nBcc: x@evil.example')).toContain(
      'is not an e-mail address.',
    );
    await expect(sendNews(email(), 'ada@evil.example')).rejects.toMatchObject({
      code: 'invalid-input',
    });
    expect(smtp.mails).toEqual([]);
  });

  it.each([
    ['451 try later', { code: 'upstream-failed', retryable: true, message: 'The SMTP server returned 451.' }],
    [
      '550 no such user',
      { code: 'upstream-failed', retryable: false, message: 'The SMTP server returned 550.' },
    ],
  ])(
    "with a temporary error (%s) is distinguished from a permanent one, without the server's text",
    async (reply, error) => {
      smtp.intercept = (command) => (command.startsWith('RCPT') ? reply : null);
      await expect(sendNews(email(), 'ada@example.com')).rejects.toMatchObject(error);
    },
  );

  it('ends with its signal and its time limit', async () => {
    smtp.intercept = () => '250-more';
    await expect(sendNews(email('', 300), 'ada@example.com')).rejects.toMatchObject({ retryable: true });
    const signal = AbortSignal.timeout(100);
    const hanging = sendNews(email('', 60_000), 'ada@example.com', { signal });
    await expect(hanging).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('is not sent if the password would be unencrypted', async () => {
    const remote = channel(`smtp://ci:secret@0.0.0.0:${smtp.port}`);
    await expect(sendNews(remote, 'ada@example.com')).rejects.toMatchObject({
      code: 'upstream-failed',
    });
    expect([smtp.signIns, smtp.mails]).toEqual([[], []]);
  });

  it('is checked by doctor without being sent', async () => {
    const config = parseConfig({
      ...createEmbeddedPreset('/data', '/knowledge'),
      channels: {
        email: { smtpUrl: `smtp://127.0.0.1:${smtp.port}`, smtpFrom: 'ci@example.com' },
        teams: { webhooks: { payments: 'https://teams.example/secret' } },
      },
    });
    const asked = ['smtp', 'webhooks of rules'];
    const checks = listExternalChecks(config).filter(({ name }) => asked.includes(name));
    const findings = await Promise.all(checks.map(async ({ ask }) => await ask(AbortSignal.timeout(5_000))));
    expect(findings).toMatchObject([
      { state: 'ok', says: expect.stringContaining('accepts us') },
      { state: 'note', says: expect.not.stringContaining('secret') },
    ]);
    expect(smtp.mails).toEqual([]);
    const unset = listExternalChecks(parseConfig(createEmbeddedPreset('/data', '/knowledge')));
    expect(unset.filter(({ name }) => asked.includes(name))).toEqual([]);
  });
});

describe('68: a message to a webhook', () => {
  let server: LoopbackServer;
  let bodies: string[];
  let answer: { status: number; body: string };
  beforeEach(async () => {
    bodies = [];
    answer = { status: 202, body: '' };
    server = await startLoopback(async (request, response) => {
      bodies.push((await readText(request, 1_000_000)) ?? '');
      response.writeHead(answer.status, { location: '/elsewhere' }).end(answer.body);
    });
  });
  afterEach(async () => await server.close());
  const teams = () => createTeamsChannel({ webhooks: { payments: `${server.url}/workflow?sig=secret` } });

  it('of Teams is an adaptive card, which mentions only configured users', async () => {
    await sendNews(teams(), 'payments');
    expect(server.requests).toMatchObject([{ method: 'POST', path: '/workflow?sig=secret' }]);
    const { attachments } = JSON.parse(bodies[0] ?? '');
    expect(attachments[0]).toMatchObject({
      contentType: 'application/vnd.microsoft.card.adaptive',
      content: {
        type: 'AdaptiveCard',
        msteams: {
          entities: [
            { type: 'mention', text: '<at>ada@example.com</at>', mentioned: { id: 'ada@example.com' } },
          ],
        },
      },
    });
    expect(bodies[0]).toContain('The cart total is rounded twice');
    expect(bodies[0]).toContain('https://fl.example/analyses/ana_9f2c');
  });

  it('of Teams stays within 24 kB, with the causes that fit', async () => {
    const causes = Array.from({ length: 10 }, (_, at) => {
      const { answer, ...analysis } = sampleAnalysis({ id: `ana_${at}`, fingerprint: `f${at}` });
      return sampleCause({
        ...analysis,
        answer: { ...answer, rootCause: '\u2603'.repeat(4_000), fixRecommendation: '\u2603'.repeat(4_000) },
      });
    });
    await sendNews(teams(), 'payments', {}, await sampleNews(causes));
    expect(Buffer.byteLength(bodies[0] ?? '')).toBeLessThanOrEqual(24_000);
    expect(bodies[0]).toMatch(/… [1-9] more causes/);
  });

  it.each([
    [429, '', { code: 'rate-limited', retryable: true }],
    [503, '', { code: 'upstream-failed', retryable: true }],
    [404, '', { code: 'upstream-failed', retryable: false }],
    [
      302,
      '',
      { message: 'Microsoft Teams returned 302: a redirect, which is not followed.', retryable: false },
    ],
    [
      200,
      'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId x',
      { code: 'rate-limited', retryable: true },
    ],
    [
      200,
      'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 413 with ContextId x',
      { retryable: false },
    ],
  ])('of Teams that answers %i %s', async (status, body, error) => {
    answer = { status, body };
    await expect(sendNews(teams(), 'payments')).rejects.toMatchObject(error);
    expect(server.requests).toHaveLength(1);
  });

  it('is refused if the webhook is not configured', async () => {
    expect(teams().messages?.refusal('https://evil.example')).toContain(
      'FAULTLINE_TEAMS_WEBHOOKS has no webhook of this name. It has: payments.',
    );
    expect(teams().messages?.refusal('toString')).not.toBeNull();
    await expect(sendNews(teams(), 'constructor')).rejects.toMatchObject({
      code: 'invalid-input',
    });
    const messenger = await teams().messages?.open?.(createChannelParts());
    await expect(messenger?.send({ body: '{}' }, callTo('absent'))).rejects.toMatchObject({
      code: 'invalid-input',
      message: 'There is no webhook named absent in FAULTLINE_TEAMS_WEBHOOKS.',
    });
  });

  it('of any other service is signed, and has the id of the message', async () => {
    const secrets = [`whsec_${Buffer.alloc(32, 1).toString('base64')}`];
    const settings = WebhookSettings.parse({ webhooks: { ops: server.url }, webhookSecrets: secrets });
    await sendNews(createWebhookChannel(settings), 'ops');
    const headers = server.requests[0]?.headers;
    const at = Number(headers?.['webhook-timestamp']) * 1000;
    expect(headers).toMatchObject(createSignedHeaders('ntm_1', bodies[0] ?? '', secrets, at));
    expect(JSON.parse(bodies[0] ?? '')).toMatchObject({
      type: 'notification.sent',
      data: {
        rule: { id: 'ntr_1' },
        isTest: false,
        more: 0,
        items: [
          {
            title: 'The cart total is rounded twice',
            owners: ['@shop/payments'],
            build: { repository: 'shop/api' },
            analysis: { id: 'ana_9f2c' },
          },
        ],
      },
    });
  });
});

it('68: a retry in Slack finds the posted message, and only configured ids are mentioned', async () => {
  const slack = await startSlackApi();
  const channel = createSlackChannel(SlackSettings.parse({ token: SLACK_TOKEN, baseUrl: slack.url }));
  const first = await sendNews(channel, 'C0123456789');
  expect(await sendNews(channel, 'C0123456789', { isRetry: true })).toEqual(first);
  expect(slack.messages).toHaveLength(1);
  expect(JSON.stringify(slack.messages[0]?.blocks)).toContain('<!subteam^S0123456789>');
  await expect(sendNews(channel, 'general')).rejects.toMatchObject({ code: 'invalid-input' });
  await slack.close();
});
