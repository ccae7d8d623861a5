import { createServer, type ServerResponse } from 'node:http';

/** A package server of a third party with the fault named by the first argument, on port 80 of packages.example.test. */
const moods: Readonly<Record<string, (response: ServerResponse) => void>> = {
  unavailable: (response) => answer(response, 503, 'Service Unavailable', { 'retry-after': '0' }),
  'not-found': (response) => answer(response, 404, 'Not Found'),
  'rate-limited': (response) => answer(response, 429, 'Too Many Requests'),
  unauthorized: (response) =>
    answer(response, 401, 'Unauthorized', { 'www-authenticate': 'Bearer realm="packages"' }),
  resetting: resetHalfway,
  crawling: crawl,
};

const mood = moods[process.argv[2] ?? ''];
if (mood === undefined)
  throw new Error(`unknown behaviour, expected one of ${Object.keys(moods).join(', ')}`);
createServer((_request, response) => mood(response)).listen(80, '203.0.113.10');

function answer(
  response: ServerResponse,
  status: number,
  reason: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, reason, { 'content-type': 'application/json', ...headers });
  response.end(`${JSON.stringify({ error: reason })}\n`);
}

function resetHalfway(response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': String(8 * 1024 * 1024),
  });
  response.write(Buffer.alloc(1024 * 1024));
  setTimeout(() => response.socket?.resetAndDestroy(), 300);
}

function crawl(response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': String(96 * 1024 * 1024),
  });
  const timer = setInterval(() => response.write(Buffer.alloc(4096)), 500);
  response.on('close', () => clearInterval(timer));
}
