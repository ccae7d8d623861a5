import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TriageError } from '../../src/domain/errors.ts';
import { countTokens } from '../../src/log/reduce/tokens.ts';
import type { CodeHost } from '../../src/ports/code-host.ts';
import type { Embedder } from '../../src/ports/vector-index.ts';
import { createLocalGitHost } from '../../src/providers/git/clone.ts';
import { extractCodeWords, searchWords, splitChunks } from '../../src/tools/code-chunks.ts';
import { rankByWords } from '../../src/tools/search-semantic.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';
import { sampleBuild, sampleSubject } from '../support/subject.ts';
import { createContext } from './sources.ts';

const filler = (name: string, count: number) =>
  Array.from(
    { length: count },
    (_, row) => `export const ${name}${row} = () => "nothing of interest in ${name} ${row}";`,
  );
const ROUNDING = [
  'export function roundToCents(amount: number): number {',
  '  const cents = Math.round(amount * 100);',
  '  return cents / 100;',
  '}',
];

const SETTLING = [
  'export function settleAccount(ledgerEntry: Entry): void {',
  '  const hundredths = Math.round(ledgerEntry.amount * 100);',
  '  post(hundredths);',
  '}',
];

let repository: GitRepository;
let codeHost: CodeHost;
let built: string;

beforeAll(() => {
  repository = createGitRepository();
  built = repository.commit(
    {
      'README.md': '# Shop\n\nSells things. roundToCents cents\n',
      'src/money/rounding.ts': [...filler('before', 80), ...ROUNDING, ...filler('after', 80), ''].join('\n'),
      'src/cart/cart.ts': [
        ...filler('cart', 20),
        'import { roundToCents } from "../money/rounding";',
        '',
      ].join('\n'),
      'src/logo.ts': 'export const cents = 1;\n',
      'dist/bundle.js': 'function roundToCents(){var cents=Math.round(amount*100)}\n',
      ...Object.fromEntries(
        Array.from({ length: 30 }, (_, file) => [
          `src/mentions/file${file}.ts`,
          '// settleAccount ledgerEntry settleAccount ledgerEntry\n'.repeat(3),
        ]),
      ),
      'src/ledger.ts': [...filler('row', 1_400), ...SETTLING, ''].join('\n'),
      'packages/api/README.md': '# The API\n',
      'packages/api/index.ts': 'export {};\n',
    },
    'Begin',
  );
  codeHost = createLocalGitHost({ clones: { 'shop/api': repository.folder } });
});
afterAll(() => repository.remove());

function ask(more: { embedder?: Embedder; codeHost?: CodeHost } = {}) {
  const mask = async (text: string) => text.replaceAll('after20', '[masked]');
  return createContext({ codeHost, mask, ...more }, sampleSubject({ build: sampleBuild({ commit: built }) }));
}

/** Knows one meaning: cents. */
function createEmbedderOfCents(): Embedder & { readonly asked: string[] } {
  const asked: string[] = [];
  const embed = async (texts: readonly string[]) => {
    asked.push(...texts);
    return texts.map((text) => Float32Array.from(/Math\.round|in hundredths/.test(text) ? [1, 0] : [0, 1]));
  };
  return { name: 'meaning', dimensions: 2, embed, asked };
}

describe('search_code for words', () => {
  it('names the files with the most different words and their counts, then the best lines of the first few', async () => {
    const { findings } = await ask()('CODE_ERROR', 'search_code', { words: ['roundToCents', 'cents'] });

    expect(findings[0]?.text.split('\n')[0]).toMatch(/: \d+ times, 2 of 2 words$/);
    expect(findings[0]?.text).toContain('src/logo.ts: 1 times, 1 of 2 words');
    const shown = findings.find(({ source }) => source === 'src/money/rounding.ts');
    expect(shown?.text).toContain('81: export function roundToCents(amount: number): number {');
    expect(shown?.data).toMatchObject({
      path: 'src/money/rounding.ts',
      lines: expect.arrayContaining([81, 82, 83]),
    });
  });

  it('requires a text or words', async () => {
    expect(await ask()('CODE_ERROR', 'search_code')).toMatchObject({ status: 'invalid-arguments' });
    expect(await ask()('CODE_ERROR', 'search_code', { words: ['a'] })).toMatchObject({
      status: 'invalid-arguments',
    });
  });
});

describe('search_semantic', () => {
  const code = 'function roundToCents(amount) {\n  return Math.round(amount * 100) / 100;\n}';

  it('ranks line ranges by words without an embedding model', async () => {
    const { findings } = await ask()('CODE_ERROR', 'search_semantic', { code });
    const [first] = findings;

    expect(first).toMatchObject({ source: 'src/money/rounding.ts', data: { by: 'words' } });
    expect(first?.text).toContain('Math.round(amount * 100)');
    expect(first?.lineStart).toBeLessThanOrEqual(81);
    expect(first?.lineEnd).toBeGreaterThanOrEqual(84);
    expect(findings.map(({ source }) => source)).not.toContain('dist/bundle.js');
  });

  it('ranks by embeddings if a model is configured', async () => {
    const embedder = createEmbedderOfCents();
    const { findings } = await ask({ embedder })('CODE_ERROR', 'search_semantic', {
      code: 'amount in hundredths',
      words: ['cents', 'before1'],
    });

    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatchObject({ source: 'src/money/rounding.ts', score: 1, data: { by: 'meaning' } });
    expect(embedder.asked[0]).toContain('amount in hundredths');
    expect(embedder.asked.join('\n')).toContain('[masked]');
    expect(embedder.asked.join('\n')).not.toContain('after20');
  });

  it('finds a function beyond line 1,400 in the 31st file, by the question and a guess at its code', async () => {
    const embedder = createEmbedderOfCents();
    const { findings } = await ask({ embedder })('CODE_ERROR', 'search_semantic', {
      code: 'function settleAccount(ledgerEntry) { post(amount in hundredths) }',
      about: 'how is an account settled?',
    });

    expect(findings[0]).toMatchObject({ source: 'src/ledger.ts', score: 1 });
    expect(findings[0]?.text).toContain('const hundredths = Math.round(ledgerEntry.amount * 100);');
    expect(embedder.asked[0]).toMatch(/^how is an account settled\?\nfunction settleAccount/);
  });

  it('ranks by words with a note if the embedder fails', async () => {
    const embed = async () => {
      throw new TriageError('upstream-failed', 'It answered 500.', { retryable: true });
    };
    const { findings } = await ask({ embedder: { name: 'meaning', dimensions: 2, embed } })(
      'CODE_ERROR',
      'search_semantic',
      { code },
    );

    expect(findings[0]?.title).toContain('matched by words, because the embedder did not respond');
  });

  it('skips a candidate that cannot be read', async () => {
    const readFile: CodeHost['readFile'] = async (query, signal) => {
      if (query.path === 'src/cart/cart.ts') throw new TriageError('too-large', 'It is larger than 5 MB.');
      return codeHost.readFile(query, signal);
    };
    const { findings } = await ask({ codeHost: { ...codeHost, readFile } })('CODE_ERROR', 'search_semantic', {
      code,
    });

    expect(findings[0]?.source).toBe('src/money/rounding.ts');
  });

  it('reports code without anything to search for', async () => {
    expect(await ask()('CODE_ERROR', 'search_semantic', { code: '{ ( ) } 12 + 34' })).toMatchObject({
      status: 'invalid-arguments',
    });
  });
});

describe('chunks of code', () => {
  it('have about 500 tokens, overlap by about 100, and cover every line', () => {
    const lines = filler('row', 400);
    const chunks = splitChunks('a.ts', 1, lines);

    for (const chunk of chunks) expect(countTokens(chunk.text)).toBeLessThanOrEqual(500);
    expect(chunks.at(-1)?.lineEnd).toBe(400);
    for (const [index, chunk] of chunks.entries()) {
      const next = chunks[index + 1];
      if (next === undefined) continue;
      const overlap = countTokens(lines.slice(next.lineStart - 1, chunk.lineEnd).join('\n'));
      expect(overlap).toBeGreaterThan(50);
      expect(overlap).toBeLessThanOrEqual(100);
    }
  });

  it('end with a line that is longer than a chunk, and do not exist without lines', () => {
    expect(splitChunks('a.ts', 10, ['x '.repeat(2_000), 'y'])).toMatchObject([
      { lineStart: 10, lineEnd: 10 },
      { lineStart: 11, lineEnd: 11 },
    ]);
    expect(splitChunks('a.ts', 1, [])).toEqual([]);
  });
});

describe('words of code', () => {
  it('include the parts of compound identifiers, without keywords', () => {
    expect(extractCodeWords('const taxOfCart = HTTPServer.get_tax();')).toEqual(
      expect.arrayContaining(['taxofcart', 'tax', 'cart', 'httpserver', 'http', 'server']),
    );
    expect(extractCodeWords('return new function')).toEqual([]);
  });

  it('that find files are compound or long ones', () => {
    expect(searchWords('if (x) return roundToCents(amount, abc)', 2)).toEqual(['roundToCents', 'amount']);
  });

  it('rank a chunk with the rare ones first, between 0 and 1', () => {
    const chunk = (text: string) => ({ path: 'a', lineStart: 1, lineEnd: 1, text });
    const ranked = rankByWords([chunk('sum sum sum'), chunk('sum of cents'), chunk('cart')], 'sum cents');
    expect(ranked.map((rankedChunk) => rankedChunk.chunk.text)).toEqual(['sum of cents', 'sum sum sum']);
    for (const { score } of ranked) expect(score).toBeLessThanOrEqual(1);
  });
});

describe('read_repository_docs', () => {
  it('shows the README and the tree, and prefers llms.txt', async () => {
    const readme = await ask()('CODE_ERROR', 'read_repository_docs');
    expect(readme.findings.map(({ source }) => source)).toEqual(['README.md', 'repository']);
    expect(readme.findings[1]?.text).toContain('src/money/ (1)');
    const withLlms = repository.commit({ 'llms.txt': '# Shop for models\n' }, 'For models');
    const subject = sampleSubject({ build: sampleBuild({ commit: withLlms }) });
    const llms = await createContext({ codeHost }, subject)('CODE_ERROR', 'read_repository_docs');
    expect(llms.findings[0]).toMatchObject({ source: 'llms.txt', text: '# Shop for models' });
  });

  it('is limited to a folder, and finds nothing in one that does not exist', async () => {
    const { findings } = await ask()('CODE_ERROR', 'read_repository_docs', { folder: 'packages/api/' });
    expect(findings.map(({ source }) => source)).toEqual(['packages/api/README.md', 'repository']);
    expect(findings[1]?.text).not.toContain('rounding');
    expect(await ask()('CODE_ERROR', 'read_repository_docs', { folder: 'nowhere' })).toMatchObject({
      status: 'empty',
    });
  });
});

describe('list_repositories', () => {
  it("lists only those of the build's owner", async () => {
    const clones = {
      'shop/api': repository.folder,
      'shop/web': repository.folder,
      'secret/plans': repository.folder,
    };
    const host = createLocalGitHost({ clones });
    const { findings } = await ask({ codeHost: host })('CODE_ERROR', 'list_repositories');

    expect(findings[0]?.text).toContain('shop/api (main)');
    expect(findings[0]?.text).toContain('shop/web');
    expect(JSON.stringify(findings)).not.toContain('secret');
    const named = await ask({ codeHost: host })('CODE_ERROR', 'list_repositories', { name: 'WEB' });
    expect(named.findings[0]?.data?.repositories).toMatchObject([{ repository: 'shop/web' }]);
  });
});
