import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface LoopbackServer {
  readonly url: string;
  /** Every request that was received, in order. */
  readonly requests: readonly {
    readonly method: string;
    readonly path: string;
    readonly headers: IncomingMessage['headers'];
  }[];
  close(): Promise<void>;
}

/** Starts a real HTTP server on a free port of the loopback interface. */
export async function startLoopback(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<LoopbackServer> {
  const requests: { method: string; path: string; headers: IncomingMessage['headers'] }[] = [];
  const server = createServer((request, response) => {
    requests.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    .end(JSON.stringify(body));
}
