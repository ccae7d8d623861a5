import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { TriageError } from '../../src/domain/errors.ts';
import type { KnowledgeDocument } from '../../src/domain/library.ts';
import { listFailures } from '../../src/log/fingerprint/failures.ts';
import { readSources } from '../../src/log/read-sources.ts';
import { createHashingEmbedder } from '../../src/models/embedder/hashing.ts';
import type { VectorIndex } from '../../src/ports/vector-index.ts';
import { createMemoryIndex } from '../../src/stores/vectors/memory.ts';
import { loadKnowledge, readKnowledge } from '../../src/tools/knowledge-base.ts';
import { INVENTED_MESSAGES } from '../support/invented-messages.ts';
import { sampleSubject } from '../support/subject.ts';
import { createContext } from './sources.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const FIXTURES = join(ROOT, 'test/fixtures/failures');
const Truth = z.object({ category: z.string(), kind: z.string() });

let documents: KnowledgeDocument[];
let vectorIndex: VectorIndex;
beforeAll(async () => {
  documents = await readKnowledge(join(ROOT, 'knowledge'));
  vectorIndex = createMemoryIndex(createHashingEmbedder());
  await loadKnowledge(vectorIndex, documents);
});

describe('search_knowledge', () => {
  it('finds a document by each of its own phrases inside a longer line, nearly always first', async () => {
    const all = documents.flatMap((document) => document.signals.map((phrase) => ({ document, phrase })));
    const phrases = all.filter((_, index) => index % 3 === 0);
    const ask = createContext({ vectorIndex });
    let first = 0;
    for (const { document, phrase } of phrases) {
      const { findings } = await ask('CODE_ERROR', 'search_knowledge', {
        query: `10:04 [step] ${phrase} 'x'`,
        limit: 1,
      });
      if (findings[0]?.data?.kind === document.kind) first += 1;
    }
    expect(first / phrases.length).toBeGreaterThan(0.9);
  });

  it('finds the kind of most real failures, first for most of those with any result', async () => {
    const names = readdirSync(FIXTURES, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? entry.name : [],
    );
    const ranks = await Promise.all(names.map(findRank));
    const found = ranks.filter((rank) => rank !== null);

    expect(found.filter((rank) => rank === 1).length / found.length).toBeGreaterThan(0.7);
    expect(found.filter((rank) => rank >= 1 && rank <= 3).length / ranks.length).toBeGreaterThan(0.55);
  });

  it('finds nothing for nearly all invented messages', async () => {
    const messages = INVENTED_MESSAGES.filter((_, index) => index % 3 === 0);
    const ask = createContext({ vectorIndex });
    const outcomes = await Promise.all(
      messages.map((query) => ask('CONFIG_ERROR', 'search_knowledge', { query })),
    );

    expect(outcomes.filter(({ status }) => status === 'empty').length / messages.length).toBeGreaterThan(0.9);
  });

  /**
   * 1-based place of the first document of the true kind; 0 where it is not among ten, null where nothing was
   * found.
   */
  async function findRank(name: string): Promise<number | null> {
    const text = readFileSync(join(FIXTURES, name, 'log.txt'), 'utf8');
    const truth = Truth.parse(JSON.parse(readFileSync(join(FIXTURES, name, 'truth.json'), 'utf8')));
    const reading = readSources([{ name: 'log.txt', kind: 'log', text, notes: [] }], { budgetTokens: 2_000 });
    const failures = listFailures(reading).map((failure) => ({ ...failure, id: 'fal_1', buildId: 'bld_1' }));
    const subject = sampleSubject({ ...reading, failures });
    const { findings } = await createContext({ vectorIndex }, subject)('CODE_ERROR', 'search_knowledge', {
      limit: 10,
    });
    return findings.length === 0 ? null : findings.findIndex(({ data }) => data?.kind === truth.kind) + 1;
  }

  it('returns the whole document with its facts, once, with a score', async () => {
    const { findings } = await createContext({ vectorIndex })('INFRA_ERROR', 'search_knowledge', {
      query: 'write failed: No space left on device',
    });

    expect(findings[0]).toMatchObject({
      source: expect.stringMatching(/^knowledge\/ERR\d+$/),
      data: { kind: 'disk_full', category: 'INFRA_ERROR' },
    });
    expect(findings[0]?.text).toContain('Fixes\n');
    expect(findings[0]?.data?.fix).toBeTruthy();
    const ids = findings.map(({ data }) => data?.documentId);
    expect(new Set(ids).size).toBe(ids.length);
    const scores = findings.map(({ score }) => score ?? -1);
    expect(scores).toEqual(scores.toSorted((left, right) => right - left));
  });

  it('is limited to a category on request', async () => {
    const { findings } = await createContext({ vectorIndex })('INFRA_ERROR', 'search_knowledge', {
      query: 'AssertionError: expected 1 to equal 2, no space left',
      category: 'TEST_FAILURE',
    });

    expect(findings.length).toBeGreaterThan(0);
    expect(findings.every(({ data }) => data?.category === 'TEST_FAILURE')).toBe(true);
  });

  it('omits documents that are similar by chance', async () => {
    const { findings } = await createContext({ vectorIndex })('INFRA_ERROR', 'search_knowledge', {
      query: 'go: example.com/x@v1.0.0: dial tcp: lookup proxy.golang.org on 10.0.0.2:53: no such host',
    });

    expect(findings.map(({ data }) => data?.documentId)).toEqual(['ERR014']);
  });

  it('is replaced by the web search if the index is down, which is reported', async () => {
    const down: VectorIndex = {
      ...vectorIndex,
      search: async () => {
        throw new TriageError('storage-failed', 'The index is down.', { retryable: true });
      },
    };
    const outcome = await createContext({ vectorIndex: down })('CODE_ERROR', 'search_knowledge', {
      query: 'x y z',
    });

    expect(outcome).toMatchObject({
      status: 'failed',
      summary: 'The index is down. search_web could not help either: no web search configured',
    });
    const webSearch = {
      driver: 'test',
      configured: true,
      search: async () => [{ title: 'Page', url: 'https://example.test', text: 'Text' }],
    };
    expect(
      await createContext({ vectorIndex: down, webSearch })('CODE_ERROR', 'search_knowledge'),
    ).toMatchObject({
      status: 'ok',
      answeredBy: 'search_web',
    });
  });
});

describe('search_error_library', () => {
  it('returns decisions of people, and whether they concern this repository', async () => {
    const metadata = {
      entryId: 'lib_1',
      category: 'TEST_FAILURE',
      kind: 'assertion',
      title: 'Rounded twice',
      confirmedBy: 'mara',
      repository: 'shop/api',
    };
    await vectorIndex.upsert('error_library', [
      { id: 'lib_1', text: 'expected 10.20, got 10.21', metadata },
      {
        id: 'lib_2',
        text: 'coupon was taken off twice from the cart',
        metadata: { ...metadata, entryId: 'lib_2', repository: 'other/app' },
      },
      { id: 'lib_3', text: 'out of memory', metadata: { ...metadata, entryId: 'lib_3' } },
    ]);
    const message = 'coupon was taken off twice from the basket';
    const [failure] = sampleSubject().failures;
    if (failure === undefined) throw new Error('the sample has a failure');
    const subject = sampleSubject({
      failures: [failure, { ...failure, id: 'fal_2', message, excerpt: null }],
    });
    // The words of a query are not what is compared.
    const { findings } = await createContext({ vectorIndex }, subject)(
      'TEST_FAILURE',
      'search_error_library',
      {
        query: 'rounded twice',
      },
    );

    const [first] = findings.filter(({ data }) => data?.entryId === 'lib_1');
    expect(first).toMatchObject({
      title: 'Rounded twice, confirmed by mara',
      source: 'error-library/lib_1',
      data: {
        entryId: 'lib_1',
        category: 'TEST_FAILURE',
        kind: 'assertion',
        confirmedBy: 'mara',
        sameRepository: true,
      },
    });
    expect(findings[0]?.data).toMatchObject({ entryId: 'lib_2', sameRepository: false });
    expect(findings.every(({ score }) => (score ?? 0) >= 0.5)).toBe(true);
    expect(findings.map(({ data }) => data?.entryId)).not.toContain('lib_3');
  });
});
