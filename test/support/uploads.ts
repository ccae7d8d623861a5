import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import { clearState, createFakeHttpDeps, type FakeState } from './fake-stores.ts';
import { TOKENS } from './http-deps.ts';

/** The metadata of each upload. */
export const metadata = { repository: 'shop/api', pipeline: 'ci', number: 812, branch: 'main' };
export const LOG = 'running 3 tests\nFAIL src/cart.test.ts\n  expected 10.20, got 10.21\n';
export const REPORT = `<testsuite name="cart" tests="2"><testcase classname="cart" name="adds" time="0.01"/><testcase classname="cart" name="totals"><failure message="expected 10.20">at cart.test.ts:4</failure></testcase></testsuite>`;

export let app: FastifyInstance;
export let state: FakeState;
export let base: string;

/**
 * Serves the API on its own port for the tests of a file. The stores are empty at the beginning of each test.
 */
export function serveUploads(): void {
  beforeAll(async () => {
    const fake = createFakeHttpDeps();
    state = fake.state;
    app = await buildHttp(fake.deps);
    base = await app.listen({ host: '127.0.0.1', port: 0 });
  });
  beforeEach(() => clearState(state));
  afterAll(() => app.close());
}

export type Part = readonly [field: string, content: string | Uint8Array | object, fileName?: string];

export async function sendForm(parts: readonly Part[], headers: Record<string, string> = {}) {
  const form = new FormData();
  for (const [field, content, fileName] of parts) {
    if (fileName === undefined)
      form.append(field, typeof content === 'string' ? content : JSON.stringify(content));
    else
      form.append(
        field,
        new Blob([content instanceof Uint8Array ? Uint8Array.from(content) : String(content)]),
        fileName,
      );
  }
  return getAnswer(
    await fetch(`${base}/api/builds`, {
      method: 'POST',
      body: form,
      headers: { authorization: `Bearer ${TOKENS.ingest}`, ...headers },
    }),
  );
}

export async function sendJson(body: unknown, headers: Record<string, string> = {}) {
  const all = { authorization: `Bearer ${TOKENS.ingest}`, 'content-type': 'application/json', ...headers };
  const payload = typeof body === 'string' ? body : JSON.stringify(body);
  return getAnswer(await fetch(`${base}/api/builds`, { method: 'POST', body: payload, headers: all }));
}

async function getAnswer(response: Response) {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
}
