import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { type LoopbackServer, sendJson, startLoopback } from './loopback-server.ts';

export const SLACK_TOKEN = 'xoxb-of-the-test-0123456789';

/** A stored message of the simulated Slack. */
export interface SlackMessage {
  readonly channel: string;
  readonly ts: string;
  readonly threadTs: string | null;
  /** The only person who sees it. Null if everybody does. */
  readonly to: string | null;
  text: string;
  blocks: Block[];
  metadata: unknown;
  edits: number;
}

export interface SlackApi {
  readonly url: string;
  readonly server: LoopbackServer;
  readonly messages: SlackMessage[];
  /** The names of the called methods, in order. */
  readonly calls: string[];
  /** Called before the API. If it returns true, it has sent the response. */
  intercept: ((method: string, response: ServerResponse) => boolean) | null;
  close(): Promise<void>;
}

const Text = z.strictObject({
  type: z.enum(['mrkdwn', 'plain_text']),
  text: z.string().min(1),
  verbatim: z.boolean().optional(),
});
const Button = z.strictObject({
  type: z.literal('button'),
  action_id: z.string().min(1).max(255),
  text: Text.refine(({ text }) => text.length <= 75),
  url: z.url().max(3000).optional(),
  value: z.string().max(2000).optional(),
  style: z.enum(['primary', 'danger']).optional(),
});
/** The used part of Block Kit, with Slack's published limits. */
const Block = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('section'), text: Text.refine(({ text }) => text.length <= 3000) }),
  z.strictObject({ type: z.literal('actions'), elements: z.array(Button).min(1).max(25) }),
]);
type Block = z.infer<typeof Block>;
const Blocks = z.array(Block).max(50);

/**
 * Starts a server with the used methods of Slack's Web API over real HTTP, including tokens, limits of Block
 * Kit and errors.
 */
export async function startSlackApi(): Promise<SlackApi> {
  const messages: SlackMessage[] = [];
  const calls: string[] = [];
  const api = { messages, calls, intercept: null as SlackApi['intercept'] };
  const server = await startLoopback(async (request, response) => {
    const method = (request.url ?? '').replace(/^\/api\//, '');
    const form = new URLSearchParams(await readBody(request));
    calls.push(method);
    if (api.intercept?.(method, response) === true) return;
    if (request.headers.authorization !== `Bearer ${SLACK_TOKEN}`)
      return sendJson(response, 200, { ok: false, error: 'invalid_auth' });
    sendJson(response, 200, answer(method, form, messages));
  });
  return Object.assign(api, { url: `${server.url}/api/`, server, close: () => server.close() });
}

function answer(method: string, form: URLSearchParams, messages: SlackMessage[]): object {
  const blocks = form.has('blocks')
    ? Blocks.safeParse(JSON.parse(form.get('blocks') ?? ''))
    : { success: true as const, data: [] };
  if (!blocks.success) return { ok: false, error: 'invalid_blocks', detail: z.prettifyError(blocks.error) };
  if (JSON.stringify(blocks.data).length > 13_200) return { ok: false, error: 'msg_blocks_too_long' };
  const channel = form.get('channel') ?? '';
  if (method !== 'auth.test' && !channel.startsWith('C')) return { ok: false, error: 'channel_not_found' };
  const said = {
    text: form.get('text') ?? '',
    blocks: blocks.data,
    metadata: JSON.parse(form.get('metadata') ?? 'null') as unknown,
  };
  switch (method) {
    case 'auth.test':
      return { ok: true, team: 'Shop', user: 'faultline', user_id: 'U0BOT' };
    case 'chat.postMessage':
    case 'chat.postEphemeral': {
      const ts = `1791813600.${String(messages.length).padStart(6, '0')}`;
      messages.push({
        channel,
        ts,
        threadTs: form.get('thread_ts'),
        to: form.get('user'),
        ...said,
        edits: 0,
      });
      return { ok: true, channel, ts };
    }
    case 'chat.update': {
      const found = messages.find(({ ts }) => ts === form.get('ts'));
      if (found === undefined) return { ok: false, error: 'message_not_found' };
      Object.assign(found, said, { edits: found.edits + 1 });
      return { ok: true, channel, ts: found.ts };
    }
    case 'conversations.history':
      return {
        ok: true,
        messages: messages
          .filter((message) => message.channel === channel && message.threadTs === null)
          .reverse(),
      };
    default:
      return { ok: false, error: 'unknown_method' };
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
