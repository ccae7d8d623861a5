import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { act, type Script } from './openai-replies.ts';
import {
  type ChatCompletionRequest,
  createRequest,
  findRefusal,
  type OpenAiServerOptions,
  sendJson,
} from './openai-requests.ts';

export type { Script } from './openai-replies.ts';
export { type ChatCompletionRequest, type OpenAiServerOptions, TEST_KEY } from './openai-requests.ts';

export interface OpenAiServer {
  readonly baseUrl: string;
  readonly requests: readonly ChatCompletionRequest[];
  /** The reasons for the requests that were answered 400 because their form was wrong. */
  readonly refused: readonly string[];
  /** Every request that was received, refused or not, as "POST /v1/chat/completions". */
  readonly heard: readonly string[];
  /**
   * Sets the reactions to the next requests, one for each. The last one is repeated. A function decides by
   * the request.
   */
  script(...scripts: readonly (Script | ((request: ChatCompletionRequest) => Script))[]): void;
  close(): Promise<void>;
}

/**
 * Starts a small server with OpenAI's chat completions API over real HTTP. It follows a script, and refuses
 * requests that the real one would refuse (developers.openai.com, Structured Outputs and Function calling:
 * closed objects, every property required, known keywords).
 */
export async function startOpenAiServer(options: OpenAiServerOptions = {}): Promise<OpenAiServer> {
  const requests: ChatCompletionRequest[] = [];
  const refused: string[] = [];
  const heard: string[] = [];
  let scripts: readonly (Script | ((request: ChatCompletionRequest) => Script))[] = [
    { do: 'reply', value: {} },
  ];
  const server = createServer((message, response) => {
    void readBody(message).then((body) => {
      heard.push(`${message.method} ${message.url}`);
      const problem = findRefusal(message, body, options);
      if (problem !== null) {
        if (problem.status === 400) refused.push(problem.error.message);
        sendJson(response, problem.status, { error: problem.error });
        return;
      }
      const request = createRequest(body);
      requests.push(request);
      const [next, ...later] = scripts;
      if (later.length > 0) scripts = later;
      act(response, typeof next === 'function' ? next(request) : (next ?? { do: 'hang' }), request);
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    refused,
    heard,
    script: (...next) => {
      scripts = next;
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function readBody(message: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return null;
  }
}
