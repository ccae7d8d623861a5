import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import { makeDocx, makePdf } from '../support/documents.ts';
import { createEmptyHttpDeps, TOKENS } from '../support/http-deps.ts';
import { copyTestDatabase } from '../support/pglite.ts';
import { createServiceWorld } from '../tools/knowledge/world.ts';
import { runFaultline } from './faultline.ts';

const RUNBOOK =
  '# Tunnel\n\nIt says "tunnel zephyr-7 refused our handshake".\n\n## Fix\n\nRestart zephyr-7.\n';
let home: string;
let app: FastifyInstance;
let url: string;
const world = createServiceWorld();

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'faultline-knowledge-'));
  app = await buildHttp(createEmptyHttpDeps({ knowledge: world.knowledge }));
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  mkdirSync(join(home, 'data'));
  await copyTestDatabase(join(home, 'data', 'database'));
});
afterAll(async () => {
  await app.close();
  rmSync(home, { recursive: true });
});

/** A folder with documents in it, one of them broken. */
function createFolder(name: string): string {
  const path = join(home, name);
  mkdirSync(join(path, 'old'), { recursive: true });
  writeFileSync(join(path, 'tunnel.md'), RUNBOOK);
  writeFileSync(join(path, 'old', 'review.docx'), makeDocx(['# Review', 'All was well.']));
  writeFileSync(join(path, 'old', 'locked.pdf'), makePdf([['x']], { encrypted: true }));
  writeFileSync(join(path, 'picture.png'), 'no document');
  return path;
}

describe.each<[string, () => string[]]>([
  ['a data directory', () => ['--data', join(home, 'data')]],
  ['a running service', () => ['--url', url, '--token', TOKENS.admin]],
])('faultline knowledge with %s', (name, where) => {
  const run = async (...args: string[]) => {
    const { code, stdout } = await runFaultline(['knowledge', ...args, ...where(), '--json']);
    return { code, said: JSON.parse(stdout) };
  };

  it('imports a folder, reports failures, repeats the import without changes, and removes deleted files', async () => {
    const path = createFolder(name.replaceAll(' ', '-'));
    const first = await run('add', path, '--source', 'ops', '--category', 'INFRA_ERROR');

    expect(first.code).toBe(3);
    expect(
      first.said.items.map(
        ({ source, outcome }: { source: string; outcome: string }) => `${outcome} ${source}`,
      ),
    ).toEqual(['failed ops/old/locked.pdf', 'added ops/old/review.docx', 'added ops/tunnel.md']);
    expect(first.said.items[0].notes[0]).toContain('encrypted');
    rmSync(join(path, 'old'), { recursive: true });
    writeFileSync(join(path, 'new.html'), '<h1>New</h1>');
    const second = await run('add', path, '--source', 'ops', '--category', 'INFRA_ERROR');
    expect(second.code).toBe(0);
    expect(
      second.said.items.map(
        ({ source, outcome }: { source: string; outcome: string }) => `${outcome} ${source}`,
      ),
    ).toEqual(['added ops/new.html', 'unchanged ops/tunnel.md', 'removed ops/old/review.docx']);
  });

  it('lists, shows and removes documents', async () => {
    const { said } = await run('list');
    expect(said.items.map(({ source }: { source: string }) => source)).toEqual([
      'ops/new.html',
      'ops/tunnel.md',
    ]);
    expect((await run('show', 'ops/tunnel.md')).said).toMatchObject({
      document: { category: 'INFRA_ERROR' },
      passages: [{ place: 'Tunnel' }, { place: 'Tunnel › Fix' }],
    });
    expect((await run('remove', said.items[0].id)).said.removed.source).toBe('ops/new.html');
    expect((await run('remove', 'ops/new.html')).code).toBe(3);
    expect((await run('reindex')).said).toMatchObject({ ok: true, embedder: null });
  });

  it('stores nothing in a dry run', async () => {
    expect((await run('add', createFolder('dry'), '--dry-run')).said.dryRun).toBe(true);
    expect((await run('list')).said.items).toHaveLength(1);
  });
});

it('the role read may list documents but not change them', async () => {
  const as = (token: string, method: 'GET' | 'POST', payload?: object) =>
    app.inject({
      method,
      url: '/api/knowledge',
      headers: { authorization: `Bearer ${token}` },
      ...(payload && { payload }),
    });

  expect((await as(TOKENS.read, 'GET')).statusCode).toBe(200);
  const content = Buffer.from('# a').toString('base64');
  expect((await as(TOKENS.read, 'POST', { source: 'a.md', content })).statusCode).toBe(403);
  expect((await as(TOKENS.admin, 'POST', { source: 'a.md', content: '***' })).statusCode).toBe(400);
  expect((await as(TOKENS.admin, 'POST', { source: 'a.docx', content })).statusCode).toBeLessThan(500);
});
