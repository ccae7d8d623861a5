import { z } from 'zod';
import type { AnswerPublisher } from '../../src/channels/channel.ts';
import { TriageError } from '../../src/domain/errors.ts';
import { type LoopbackServer, sendJson, startLoopback } from './loopback-server.ts';

const Comment = z.object({ id: z.string(), text: z.string() });
const Comments = z.array(Comment);

export interface CommentServer extends LoopbackServer {
  readonly comments: readonly z.infer<typeof Comment>[];
}

/**
 * Starts a server that stores every comment it receives, including repetitions, and lists them, as GitHub
 * does.
 */
export async function startCommentServer(): Promise<CommentServer> {
  const comments: z.infer<typeof Comment>[] = [];
  const server = await startLoopback((request, response) => {
    if (request.method === 'GET') return sendJson(response, 200, comments);
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const comment = { id: `comment-${comments.length + 1}`, text: body };
      comments.push(comment);
      sendJson(response, 201, comment);
    });
  });
  return { ...server, comments };
}

/** Creates a publisher that leaves a marker in each comment, and finds it again. */
export function createCommentPublisher(url: string): AnswerPublisher {
  const marker = (key: string) => `<!-- faultline:${key} -->`;
  const read = async (init: RequestInit) => {
    const response = await fetch(url, init);
    if (!response.ok)
      throw new TriageError('upstream-failed', `It answered ${response.status}`, { retryable: true });
    return await response.json();
  };
  return {
    render: ({ analysis }) => ({ title: analysis.answer.title }),
    send: async ({ title }: { readonly title: string }, { key, reference, signal }) => {
      if (reference !== null) return { reference };
      const made = Comment.parse(await read({ method: 'POST', body: `${marker(key)}\n${title}`, signal }));
      return { reference: made.id };
    },
    find: async ({ key, signal }) => {
      const found = Comments.parse(await read({ signal })).find(({ text }) => text.includes(marker(key)));
      return found === undefined ? null : { reference: found.id };
    },
  };
}
