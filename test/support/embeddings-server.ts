import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { createHashingEmbedder } from '../../src/models/embedder/hashing.ts';
import { sendJson, startLoopback } from './loopback-server.ts';

const Body = z.strictObject({
  model: z.string().min(1),
  input: z.array(z.string().min(1)).min(1).max(2_048),
  encoding_format: z.literal('float').optional(),
  dimensions: z.int().min(1).optional(),
});
export type EmbeddingsBody = z.infer<typeof Body>;

/** The server's reaction to one request. */
export type EmbeddingsScript =
  | {
      readonly do: 'embed';
      readonly dimensions?: number;
      readonly shuffled?: boolean;
      readonly drop?: number;
    }
  | { readonly do: 'vectors'; readonly of: (text: string) => readonly number[] }
  | {
      readonly do: 'status';
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly error?: object;
    }
  | { readonly do: 'body'; readonly body: string }
  | { readonly do: 'hang' }
  | { readonly do: 'reset' };

export interface EmbeddingsServer {
  readonly baseUrl: string;
  readonly bodies: readonly EmbeddingsBody[];
  /** Sets the reactions to the next requests, one for each. The last one is repeated. */
  script(...scripts: readonly EmbeddingsScript[]): void;
  close(): Promise<void>;
}

export const EMBEDDING_KEY = 'embedding-key-0123456789';

/**
 * Starts a small server with OpenAI's embeddings API over real HTTP. It refuses what the real one refuses:
 * empty texts, and too many texts.
 */
export async function startEmbeddingsServer(): Promise<EmbeddingsServer> {
  const bodies: EmbeddingsBody[] = [];
  let scripts: readonly EmbeddingsScript[] = [{ do: 'embed' }];
  const server = await startLoopback((request, response) => {
    void readAll(request).then(async (text) => {
      if (request.headers.authorization !== `Bearer ${EMBEDDING_KEY}`) {
        return sendJson(response, 401, { error: { message: 'Incorrect API key', code: 'invalid_api_key' } });
      }
      const body = Body.safeParse(JSON.parse(text));
      if (!body.success || request.url !== '/v1/embeddings') {
        return sendJson(response, 400, {
          error: { message: `refused: ${body.error?.message ?? request.url}`, code: null },
        });
      }
      bodies.push(body.data);
      const [script = { do: 'hang' as const }, ...later] = scripts;
      if (later.length > 0) scripts = later;
      if (script.do === 'hang') return;
      if (script.do === 'reset') return void response.destroy();
      if (script.do === 'body')
        return void response.writeHead(200, { 'content-type': 'application/json' }).end(script.body);
      if (script.do === 'status') {
        return sendJson(
          response,
          script.status,
          { error: script.error ?? { message: 'scripted', code: null } },
          script.headers,
        );
      }
      const vectors = await createVectors(body.data, script);
      const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
      sendJson(response, 200, {
        object: 'list',
        model: body.data.model,
        data: script.do === 'embed' && script.shuffled ? data.reverse() : data,
      });
    });
  });
  return {
    baseUrl: `${server.url}/v1`,
    bodies,
    script: (...next) => {
      scripts = next;
    },
    close: () => server.close(),
  };
}

async function createVectors(
  body: EmbeddingsBody,
  script: Extract<EmbeddingsScript, { do: 'embed' | 'vectors' }>,
): Promise<number[][]> {
  if (script.do === 'vectors') return body.input.map((text) => [...script.of(text)]);
  const vectors = await createHashingEmbedder().embed(body.input);
  const length = script.dimensions ?? body.dimensions ?? 512;
  return vectors
    .slice(script.drop ?? 0)
    .map((vector) => Array.from({ length }, (_, index) => vector[index % 512] ?? 0));
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
