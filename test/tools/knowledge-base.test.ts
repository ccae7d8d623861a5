import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHashingEmbedder } from '../../src/models/embedder/hashing.ts';
import type { VectorIndex } from '../../src/ports/vector-index.ts';
import { createMemoryIndex } from '../../src/stores/vectors/memory.ts';
import { loadKnowledge, parseKnowledge, readKnowledge } from '../../src/tools/knowledge-base.ts';

const DOCUMENT = `---
id: ERR001
title: The disk is full
category: INFRA_ERROR
kind: disk_full
tools: [docker, npm]
signals:
  - "No space left on device"
  - "ENOSPC: \\"write\\""
---
## Symptoms

- A write fails.

## Causes

- Old images fill the disk.

## Fixes

- Remove old images before the build.
- Use a larger disk.
`;

describe('a knowledge document', () => {
  it('is read with its sections', () => {
    expect(parseKnowledge('ERR001.md', DOCUMENT)).toEqual({
      id: 'ERR001',
      title: 'The disk is full',
      category: 'INFRA_ERROR',
      kind: 'disk_full',
      tools: ['docker', 'npm'],
      signals: ['No space left on device', 'ENOSPC: "write"'],
      sections: {
        Symptoms: '- A write fails.',
        Causes: '- Old images fill the disk.',
        Fixes: '- Remove old images before the build.\n- Use a larger disk.',
      },
    });
  });

  it('may have Windows line ends', () => {
    expect(parseKnowledge('ERR001.md', DOCUMENT.replaceAll('\n', '\r\n')).sections.Symptoms).toBe(
      '- A write fails.',
    );
  });

  it.each([
    ['no front matter', DOCUMENT.slice(4), 'ERR001.md:1'],
    ['an endless front matter', DOCUMENT.replace('---\n## ', '## '), 'ERR001.md:22'],
    ['an unknown field', DOCUMENT.replace('tools:', 'tool:'), 'ERR001.md:6'],
    ['a field twice', DOCUMENT.replace('tools: [docker, npm]', 'title: again'), 'ERR001.md:6'],
    ['a missing field', DOCUMENT.replace('kind: disk_full\n', ''), 'lacks the field kind'],
    ['an unknown category', DOCUMENT.replace('INFRA_ERROR', 'DISK_ERROR'), 'ERR001.md:4'],
    ['an unknown kind', DOCUMENT.replace('kind: disk_full', 'kind: disk'), 'ERR001.md:5'],
    ['tools without brackets', DOCUMENT.replace('[docker, npm]', 'docker'), 'ERR001.md:6'],
    [
      'a signal that is no JSON',
      DOCUMENT.replace('"No space left on device"', '"No "space" left"'),
      'ERR001.md:8',
    ],
    ['an empty signal', DOCUMENT.replace('"No space left on device"', '""'), 'ERR001.md:8'],
    ['text before a heading', DOCUMENT.replace('## Symptoms', 'Symptoms\n\n## Symptoms'), 'ERR001.md:11'],
    ['a section twice', DOCUMENT.replace('## Causes', '## Symptoms'), 'has the section Symptoms twice'],
    ['a missing section', DOCUMENT.replace('## Fixes', '## Hints'), 'lacks the section ## Fixes'],
  ])('with %s is refused, with its place', (_what, text, said) => {
    expect(() => parseKnowledge('ERR001.md', text)).toThrow(
      expect.objectContaining({ code: 'invalid-config', message: expect.stringContaining(said) }),
    );
  });
});

describe('the knowledge folder', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'faultline-knowledge-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('returns its documents in order and nothing else', async () => {
    writeFileSync(join(folder, 'ERR002.md'), DOCUMENT.replace('ERR001', 'ERR002'));
    writeFileSync(join(folder, 'ERR001.md'), DOCUMENT);
    writeFileSync(join(folder, 'README.md'), 'no document');

    expect((await readKnowledge(folder)).map(({ id }) => id)).toEqual(['ERR001', 'ERR002']);
  });

  it('refuses a document with the id of another file, and a missing folder', async () => {
    writeFileSync(join(folder, 'ERR002.md'), DOCUMENT);

    await expect(readKnowledge(folder)).rejects.toMatchObject({
      code: 'invalid-config',
      message: expect.stringContaining('ERR002.md:2'),
    });
    await expect(readKnowledge(join(folder, 'absent'))).rejects.toMatchObject({ code: 'invalid-config' });
  });
});

describe('indexing the knowledge folder', () => {
  const document = parseKnowledge('ERR001.md', DOCUMENT);
  const other = { ...document, id: 'ERR002', title: 'Another', signals: ['connection refused'] };

  function withQueryCount(): { index: VectorIndex; embedded: string[] } {
    const embedded: string[] = [];
    const hashing = createHashingEmbedder();
    const index = createMemoryIndex({
      ...hashing,
      embed: async (texts, signal) => {
        embedded.push(...texts);
        return hashing.embed(texts, signal);
      },
    });
    return { index, embedded };
  }

  it('adds each document and each of its phrases once', async () => {
    const { index, embedded } = withQueryCount();

    expect(await loadKnowledge(index, [document, other])).toEqual({ changed: 2, unchanged: 0, removed: 0 });
    expect((await index.list('knowledge')).map(({ id }) => id).toSorted()).toEqual([
      'ERR001',
      'ERR001/1',
      'ERR001/2',
      'ERR002',
      'ERR002/1',
    ]);
    embedded.length = 0;
    expect(await loadKnowledge(index, [document, other])).toEqual({ changed: 0, unchanged: 2, removed: 0 });
    expect(embedded).toEqual([]);
  });

  it('embeds only what changed and removes what is gone', async () => {
    const { index, embedded } = withQueryCount();
    await loadKnowledge(index, [document, other]);
    embedded.length = 0;
    const shorter = { ...document, signals: document.signals.slice(0, 1) };

    expect(await loadKnowledge(index, [shorter])).toEqual({ changed: 1, unchanged: 0, removed: 1 });
    expect(embedded).toEqual([]);
    expect((await index.list('knowledge')).map(({ id }) => id).toSorted()).toEqual(['ERR001', 'ERR001/1']);
    expect(await loadKnowledge(index, [{ ...shorter, title: 'Full' }])).toEqual({
      changed: 1,
      unchanged: 0,
      removed: 0,
    });
  });

  it('does not touch the error library', async () => {
    const { index } = withQueryCount();
    await index.upsert('error_library', [{ id: 'lib_1', text: 'decided', metadata: {} }]);
    await loadKnowledge(index, []);

    expect(await index.count('error_library')).toBe(1);
  });

  it('keeps the first fix with each phrase', async () => {
    const { index } = withQueryCount();
    await loadKnowledge(index, [document]);

    const [match] = await index.search('knowledge', { text: 'No space left on device', limit: 1 });
    expect(match?.metadata).toMatchObject({
      documentId: 'ERR001',
      kind: 'disk_full',
      fix: 'Remove old images before the build.',
    });
  });
});
