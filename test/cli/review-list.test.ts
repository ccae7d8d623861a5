import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createReviewCommand } from '../../src/cli/review/review-program.ts';

const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(request.url ?? '');
  response.setHeader('content-type', 'application/json').end('{"items":[],"questions":[]}');
});
beforeAll(async () => await once(server.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => server.close());

it.each([
  [[], '/api/reviews?state=waiting'],
  [['--state', 'decided'], '/api/reviews?state=decided'],
  [['--all'], '/api/reviews'],
])('review list %j requests %s', async (flags, path) => {
  const { port } = server.address() as AddressInfo;
  await createReviewCommand().parseAsync(
    ['list', ...flags, '--json', '--url', `http://127.0.0.1:${port}`, '--token', 'flt_x'],
    { from: 'user' },
  );
  expect(asked.at(-1)).toBe(path);
});
