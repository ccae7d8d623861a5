import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPlaceToolbox } from '../../src/app/place-tools.ts';
import { readConfig } from '../../src/cli/settings.ts';
import { startLoopback } from '../support/loopback-server.ts';
import { sampleBuild, sampleSubject } from '../support/subject.ts';

test('search by meaning in the terminal asks the configured embedder, with the question and the guess', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-meaning-'));
  await mkdir(join(folder, 'shop'));
  await writeFile(
    join(folder, 'shop/tax.ts'),
    'export function addTax(net: number) {\n  return net * 1.25;\n}\n',
  );
  const asked: string[] = [];
  const server = await startLoopback(async (message, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    const { input } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { input: string[] };
    asked.push(...input);
    response.setHeader('content-type', 'application/json');
    const data = input.map((_, index) => ({ object: 'embedding', index, embedding: [1, 0, 0] }));
    response.end(
      JSON.stringify({ object: 'list', model: 'm', data, usage: { prompt_tokens: 1, total_tokens: 1 } }),
    );
  });
  const { codeHost, embedder, analyst, triage } = readConfig(join(folder, 'data'));
  const openai = { ...embedder.openai, baseUrl: `${server.url}/v1`, apiKey: 'k' };
  const config = { codeHost, analyst, triage, embedder: { ...embedder, driver: 'openai' as const, openai } };
  const toolbox = await openPlaceToolbox({
    source: { kind: 'folder', name: 'shop', path: join(folder, 'shop') },
    config,
    masking: {},
  });
  const outcome = await toolbox.run(
    {
      tool: 'search_semantic',
      args: { code: 'function addTax(net) { return net * rate }', about: 'how is the tax added?' },
      why: 'it asks how',
    },
    sampleSubject({ build: sampleBuild({ repository: 'shop', commit: 'folder' }) }),
    'CODE_ERROR',
    new AbortController().signal,
  );
  expect(outcome.findings[0]?.title).toContain('tax.ts:1–3, matched by meaning');
  expect(asked[0]).toMatch(/^how is the tax added\?\nfunction addTax/);
  await server.close();
  await rm(folder, { recursive: true, force: true });
});
