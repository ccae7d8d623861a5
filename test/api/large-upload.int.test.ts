import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import { createFakeHttpDeps } from '../support/fake-stores.ts';
import { TEST_CONFIG, TOKENS } from '../support/http-deps.ts';
import { metadata } from '../support/uploads.ts';

test('a gzip log of 200 MB is accepted if the limits allow it', async () => {
  const line = 'a line of a long log, one of very many\n';
  const text = Buffer.alloc(200 * 1024 * 1024, line);
  const http = { ...TEST_CONFIG.http, maxLogBytes: 256 * 1024 * 1024 };
  const fake = createFakeHttpDeps({ config: { ...TEST_CONFIG, http } });
  const large = await buildHttp(fake.deps);
  const form = new FormData();
  form.append('metadata', JSON.stringify(metadata));
  form.append('log', new Blob([Uint8Array.from(gzipSync(text))]), 'build.log.gz');
  const address = await large.listen({ host: '127.0.0.1', port: 0 });
  const answer = await fetch(`${address}/api/builds`, {
    method: 'POST',
    body: form,
    headers: { authorization: `Bearer ${TOKENS.ingest}` },
  });
  await large.close();

  expect(answer.status).toBe(202);
  expect(fake.state.archive.get('bld_1/build.log')?.length).toBe(text.length);
});
