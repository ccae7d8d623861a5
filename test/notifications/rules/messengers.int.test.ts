import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listMessageChecks } from '../../../src/app/external-checks.ts';
import { COMMON } from '../../../src/config/schema.ts';
import { readText } from '../../../src/lib/http-body.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { createSlackRoom } from '../../../src/notifications/publisher/slack.ts';
import { signedHeaders } from '../../../src/notifications/publisher/webhook.ts';
import { createEmailMessenger } from '../../../src/notifications/rules/email.ts';
import { createSlackMessenger } from '../../../src/notifications/rules/slack.ts';
import { createTeamsMessenger } from '../../../src/notifications/rules/teams.ts';
import { createWebhookMessenger } from '../../../src/notifications/rules/webhook.ts';
import { type LoopbackServer, startLoopback } from '../../support/loopback-server.ts';
import { sampleAnalysis } from '../../support/sample-analysis.ts';
import { SLACK_TOKEN, startSlackApi } from '../../support/slack-api.ts';
import { type SmtpServer, startSmtp } from '../../support/smtp-server.ts';
import { sampleCause } from '../slack/slack-world.ts';
import { sampleNews } from './sample-news.ts';

const options = { key: 'ntm_1', signal: new AbortController().signal, isRetry: false };

describe('68: by e-mail', () => {
  let smtp: SmtpServer;
  beforeEach(async () => {
    smtp = await startSmtp();
  });
  afterEach(async () => await smtp.close());
  const messenger = (user = '', timeLimitMs = 2_000) =>
    createEmailMessenger({
      url: `smtp://${user}127.0.0.1:${smtp.port}`,
      from: 'Faultline <ci@example.com>',
      domains: ['example.com'],
      timeLimitMs,
    });

  it('goes to an SMTP server, as text and as HTML, with a Message-ID that stays the same', async () => {
    const sent = await messenger('ci:p%40ss@').send(
      await sampleNews(),
      'ada@example.com, ben@example.com',
      options,
    );
    expect(sent).toEqual({ reference: '<ntm_1@example.com>' });
    expect(smtp.signIns).toEqual(['ci p@ss']);
    const [mail] = smtp.mails;
    expect(mail).toMatchObject({ from: 'ci@example.com', to: ['ada@example.com', 'ben@example.com'] });
    expect(mail?.text).toContain('Subject: [Faultline] The cart total is rounded twice');
    expect(mail?.text).toContain('Message-ID: <ntm_1@example.com>');
    expect(mail?.text).toContain('Auto-Submitted: auto-generated');
    expect(mail?.text).toContain('Content-Type: text/plain; charset=utf-8');
    expect(mail?.text).toContain('https://fl.example/analyses/ana_9f2c');
    expect(mail?.text).toContain('<a href=3D"https://fl.example/analyses/ana_9f2c">Open</a>');
  });

  it('goes to the allowed domains only', async () => {
    expect(messenger().refusal('ada@example.com')).toBeNull();
    expect(messenger().refusal('ada@evil.example')).toContain('E-mails to evil.example are not allowed.');
    expect(messenger().refusal('ada')).toBe('ada is not an e-mail address.');
    expect(messenger().refusal('ada@example.com\r\nBcc: x@evil.example')).toContain(
      'is not an e-mail address.',
    );
    await expect(messenger().send(await sampleNews(), 'ada@evil.example', options)).rejects.toMatchObject({
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
  ])('%s is told from what will never work, without its words', async (reply, error) => {
    smtp.intercept = (command) => (command.startsWith('RCPT') ? reply : null);
    await expect(messenger().send(await sampleNews(), 'ada@example.com', options)).rejects.toMatchObject(
      error,
    );
  });

  it('ends with its signal and its time limit', async () => {
    smtp.intercept = () => '250-more';
    await expect(
      messenger('', 300).send(await sampleNews(), 'ada@example.com', options),
    ).rejects.toMatchObject({ retryable: true });
    const signal = AbortSignal.timeout(100);
    const hanging = messenger('', 60_000).send(await sampleNews(), 'ada@example.com', { ...options, signal });
    await expect(hanging).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('sends no password without encryption', async () => {
    const remote = createEmailMessenger({
      url: `smtp://ci:secret@0.0.0.0:${smtp.port}`,
      from: 'ci@example.com',
      domains: ['example.com'],
      timeLimitMs: 2_000,
    });
    await expect(remote.send(await sampleNews(), 'ada@example.com', options)).rejects.toMatchObject({
      code: 'upstream-failed',
    });
    expect([smtp.signIns, smtp.mails]).toEqual([[], []]);
  });

  it('is looked at by doctor, which sends nothing', async () => {
    const messages = {
      ...COMMON.messages,
      smtpUrl: `smtp://127.0.0.1:${smtp.port}`,
      smtpFrom: 'ci@example.com',
      teams: { payments: 'https://teams.example/secret' },
    };
    const findings = await Promise.all(
      listMessageChecks({ ...COMMON, messages }).map(
        async ({ ask }) => await ask(AbortSignal.timeout(5_000)),
      ),
    );
    expect(findings).toMatchObject([
      { state: 'ok', says: expect.stringContaining('accepts us') },
      { state: 'note', says: expect.not.stringContaining('secret') },
    ]);
    expect([smtp.mails, listMessageChecks(COMMON)]).toEqual([[], []]);
  });
});

describe('68: to a webhook', () => {
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
  const teams = () =>
    createTeamsMessenger({ webhooks: { payments: `${server.url}/workflow?sig=secret` }, clock: systemClock });

  it('of Teams it is an adaptive card, which mentions those whom people wrote down', async () => {
    await teams().send(await sampleNews(), 'payments', options);
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

  it('of Teams it is within 24 kB, with the causes that fit', async () => {
    const causes = Array.from({ length: 10 }, (_, at) => {
      const { answer, ...analysis } = sampleAnalysis({ id: `ana_${at}`, fingerprint: `f${at}` });
      return sampleCause({
        ...analysis,
        answer: { ...answer, rootCause: '\u2603'.repeat(4_000), fixRecommendation: '\u2603'.repeat(4_000) },
      });
    });
    await teams().send(await sampleNews(causes), 'payments', options);
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
    await expect(teams().send(await sampleNews(), 'payments', options)).rejects.toMatchObject(error);
    expect(server.requests).toHaveLength(1);
  });

  it('that nobody configured it is refused', async () => {
    expect(teams().refusal('https://evil.example')).toContain(
      'FAULTLINE_TEAMS_WEBHOOKS has no webhook of this name. It has: payments.',
    );
    expect(teams().refusal('toString')).not.toBeNull();
    await expect(teams().send(await sampleNews(), 'constructor', options)).rejects.toMatchObject({
      code: 'invalid-input',
    });
  });

  it('of anybody it is signed, and has the id of the message', async () => {
    const secrets = [`whsec_${Buffer.alloc(32, 1).toString('base64')}`];
    const messenger = createWebhookMessenger({ webhooks: { ops: server.url }, secrets, clock: systemClock });
    await messenger.send(await sampleNews(), 'ops', options);
    const headers = server.requests[0]?.headers;
    const at = Number(headers?.['webhook-timestamp']) * 1000;
    expect(headers).toMatchObject(signedHeaders('ntm_1', bodies[0] ?? '', secrets, at));
    expect(JSON.parse(bodies[0] ?? '')).toMatchObject({
      type: 'notification.sent',
      data: {
        ...{ rule: { id: 'ntr_1' }, isTest: false, more: 0 },
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

it('68: in Slack a retry finds what was posted, and only written-down ids are mentioned', async () => {
  const slack = await startSlackApi();
  const messenger = createSlackMessenger(createSlackRoom({ token: SLACK_TOKEN, baseUrl: slack.url }));
  const news = await sampleNews();
  const first = await messenger.send(news, 'C0123456789', options);
  expect(await messenger.send(news, 'C0123456789', { ...options, isRetry: true })).toEqual(first);
  expect(slack.messages).toHaveLength(1);
  expect(JSON.stringify(slack.messages[0]?.blocks)).toContain('<!subteam^S0123456789>');
  await expect(messenger.send(news, 'general', options)).rejects.toMatchObject({ code: 'invalid-input' });
  await slack.close();
});
