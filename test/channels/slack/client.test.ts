import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createSlackClient } from '../../../src/channels/slack/client.ts';
import type { SlackMessage } from '../../../src/channels/slack/message.ts';
import { sendJson } from '../../support/loopback-server.ts';
import { SLACK_TOKEN, type SlackApi, startSlackApi } from '../../support/slack-api.ts';

let slack: SlackApi;
beforeEach(async () => {
  slack = await startSlackApi();
});
afterEach(async () => slack.close());

const { signal } = new AbortController();
const options = { key: 'slack:shop/api', signal };
const message: SlackMessage = {
  text: 'main is red',
  blocks: [
    { text: '*main is red*' },
    {
      buttons: [
        { id: 'open', label: 'Open', url: 'https://fl.example/analyses/ana_1' },
        { id: 'right', label: 'Right', value: 'ana_1', style: 'primary' },
      ],
    },
  ],
};

const room = (token = SLACK_TOKEN) => createSlackClient({ token, baseUrl: slack.url });

describe('a Slack message', () => {
  it('is posted, edited in place, and answered in its thread', async () => {
    const place = await room().post('C1', message, options);
    await room().update(place, { ...message, text: 'main is green' }, options);
    await room().reply(place, 'Corrected.', signal);
    expect(slack.messages).toHaveLength(2);
    expect(slack.messages[0]).toMatchObject({
      channel: 'C1',
      text: 'main is green',
      edits: 1,
      threadTs: null,
    });
    expect(slack.messages[1]).toMatchObject({ text: 'Corrected.', threadTs: place.message });
    expect(slack.messages[0]?.blocks[1]).toMatchObject({
      elements: [{ url: 'https://fl.example/analyses/ana_1' }, { value: 'ana_1' }],
    });
  });

  it('is found by its key, and not found if there is none', async () => {
    const place = await room().post('C1', message, options);
    expect(await room().find('C1', options.key, signal)).toEqual(place);
    expect(await room().find('C1', 'slack:other', signal)).toBeNull();
  });

  it('is not searched for if the app may not read the channel', async () => {
    slack.intercept = (_method, response) => {
      sendJson(response, 200, { ok: false, error: 'missing_scope', needed: 'channels:history' });
      return true;
    };
    expect(await room().find('C1', options.key, signal)).toBeNull();
  });

  it('is posted to one person only (ephemeral)', async () => {
    await room().postEphemeral({ channel: 'C1', user: 'U1' }, 'You may not decide.', signal);
    expect(slack.messages[0]).toMatchObject({ to: 'U1', text: 'You may not decide.' });
  });

  it('is sent shortened if Slack refuses its blocks as too long', async () => {
    let refused = 0;
    slack.intercept = (_method, response) => {
      if (refused > 0) return false;
      refused += 1;
      sendJson(response, 200, { ok: false, error: 'msg_blocks_too_long' });
      return true;
    };
    await room().post('C1', message, options);
    expect(slack.messages.map(({ blocks }) => blocks.length)).toEqual([1]);
  });

  it('UX 49: stays within 50 blocks and 12,000 characters, and cuts no entity', async () => {
    const block = { text: '&lt;x&gt;'.repeat(400) };
    await room().post('C1', { text: 'x', blocks: Array.from({ length: 120 }, () => block) }, options);
    const [posted] = slack.messages;
    const texts = posted?.blocks.map((other) => (other.type === 'section' ? other.text.text : '')) ?? [];
    expect(texts.join('').length).toBeLessThanOrEqual(12_000);
    expect(texts[0]).toMatch(/^(?:&lt;x&gt;)+(?:&lt;x?)?…$/);
    await room().post(
      'C1',
      { text: 'x', blocks: Array.from({ length: 120 }, () => ({ text: 'short' })) },
      options,
    );
    expect(slack.messages[1]?.blocks).toHaveLength(50);
  });
});

const Thrown = z.object({
  name: z.string(),
  code: z.string(),
  retryable: z.boolean(),
  retryAfterMs: z.number().optional(),
  message: z.string(),
});

async function catchRefusal(work: Promise<unknown>) {
  return Thrown.parse(await work.catch((error: unknown) => error));
}

describe('an error from Slack', () => {
  it.each([
    [
      { error: 'invalid_auth' },
      { code: 'upstream-auth', retryable: false, message: expect.stringContaining('FAULTLINE_SLACK_TOKEN') },
    ],
    [{ error: 'message_not_found' }, { code: 'not-found', retryable: false }],
    [
      { error: 'not_in_channel' },
      { code: 'upstream-failed', retryable: false, message: expect.stringContaining('invited') },
    ],
    [{ error: 'ratelimited' }, { code: 'rate-limited', retryable: true }],
    [{ error: 'internal_error' }, { code: 'upstream-failed', retryable: true }],
    [
      { error: '<script> something' },
      { code: 'upstream-failed', retryable: false, message: expect.not.stringContaining('script') },
    ],
  ])('%j is reported as %j', async (said, wanted) => {
    slack.intercept = (_method, response) => {
      sendJson(response, 200, { ok: false, ...said });
      return true;
    };
    expect(await catchRefusal(room().post('C1', message, options))).toMatchObject({
      name: 'TriageError',
      ...wanted,
    });
    expect(slack.calls).toHaveLength(1);
  });

  it('is retried after the time that Slack names', async () => {
    slack.intercept = (_method, response) => {
      sendJson(response, 429, { ok: false, error: 'ratelimited' }, { 'retry-after': '30' });
      return true;
    };
    const wanted = { code: 'rate-limited', retryable: true, retryAfterMs: 30_000 };
    expect(await catchRefusal(room().post('C1', message, options))).toMatchObject(wanted);
    expect(slack.calls).toHaveLength(1);
  });

  it.each([
    [503, true],
    [404, false],
  ])('with status %i is retryable: %s', async (status, retryable) => {
    slack.intercept = (_method, response) => {
      response.writeHead(status).end('no');
      return true;
    };
    expect(await catchRefusal(room().post('C1', message, options))).toMatchObject({ retryable });
  });

  it('does not repeat the token', async () => {
    const thrown = await catchRefusal(room('xoxb-some-other-secret').whoAmI(signal));
    expect(thrown).toMatchObject({ code: 'upstream-auth' });
    expect(JSON.stringify(thrown)).not.toContain('xoxb');
  });
});

it('a call ends when its caller aborts, even if Slack does not respond', async () => {
  slack.intercept = () => true;
  const control = new AbortController();
  const waiting = catchRefusal(room().post('C1', message, { ...options, signal: control.signal }));
  setTimeout(() => control.abort(), 20);
  expect(await waiting).toMatchObject({ code: 'cancelled', retryable: true });
});

it('the client follows no redirect and reads no endless response', async () => {
  slack.intercept = (_method, response) => {
    response.writeHead(307, { location: `${slack.url}elsewhere` }).end();
    return true;
  };
  await catchRefusal(room().post('C1', message, options));
  expect(slack.calls).toEqual(['chat.postMessage']);
  slack.intercept = (_method, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on('drain', more);
    more();
    return true;
  };
  expect(await catchRefusal(room().post('C1', message, options))).toMatchObject({ code: 'upstream-failed' });
});

it('the client returns its own identity', async () => {
  expect(await room().whoAmI(signal)).toBe('faultline in Shop');
});
