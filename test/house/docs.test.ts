import { glob, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { listUnseenFigures } from '../../src/judge/judgement.ts';
import { ACCESS_MATRIX, isPage } from '../api/access-matrix.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const INDEX = 'docs/README.md';
/** Ten minutes of reading, in words. */
const LONGEST = 2000;
/** Tables that are looked up and not read through: two generated ones and the rows of OWASP's standard. */
const LOOKED_UP = ['docs/reference/cli.md', 'docs/reference/configuration.md', 'docs/reference/scores.md'];

const files = new Map<string, string>();
for (const pattern of ['*.md', 'docs/**/*.md', 'action/*.md', 'deploy/**/*.md']) {
  for await (const path of glob(pattern, { cwd: ROOT }))
    files.set(path, await readFile(join(ROOT, path), 'utf8'));
}
const docs = [...files.keys()].filter((path) => path.startsWith('docs/'));

/** Text without its fenced blocks: what is in them is an example. */
function forgeProse(text: string): string {
  return text.replaceAll(/^ *(`{3,})[^\n]*\n[\s\S]*?^ *\1 *$/gm, '');
}

/** What is read as a word; the bars of a table are not. */
function countWords(text: string): number {
  return text.match(/[^\s|]*[\p{L}\p{N}][^\s|]*/gu)?.length ?? 0;
}

/** Relative links of a page as paths from the root, with their anchors. */
function listLinks(path: string): { readonly target: string; readonly anchor: string | undefined }[] {
  return [...forgeProse(files.get(path) ?? '').matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].map(
    ([, to = '', anchor]) => ({
      target: to === '' ? path : join(dirname(path), to),
      anchor,
    }),
  );
}

/** Anchors as GitHub makes them of headings. */
function listAnchors(text: string): string[] {
  return [...forgeProse(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}

test('every relative link leads to a file, and each anchor to a heading', async () => {
  const broken: string[] = [];
  for (const path of files.keys()) {
    for (const { target, anchor } of listLinks(path)) {
      const page = files.get(target);
      if (page === undefined && !(await stat(join(ROOT, target)).catch(() => null)))
        broken.push(`${path}: ${target}`);
      else if (anchor !== undefined && !listAnchors(page ?? '').includes(anchor))
        broken.push(`${path}: ${target}#${anchor}`);
    }
  }
  expect(broken).toEqual([]);
});

test('every page can be reached from docs/README.md, which README.md links', () => {
  const reached = new Set([INDEX]);
  for (const path of reached)
    for (const { target } of listLinks(path)) if (files.has(target)) reached.add(target);
  expect(docs.filter((path) => !reached.has(path))).toEqual([]);
  expect(listLinks('README.md').map(({ target }) => target)).toEqual(
    expect.arrayContaining([INDEX, 'CONTRIBUTING.md', 'CHANGELOG.md']),
  );
});

test('every file that a page names exists', async () => {
  const absent: string[] = [];
  for (const [path, text] of files) {
    for (const [, named = ''] of forgeProse(text).matchAll(
      /`((?:src|graphs|prompts|scripts|test|deploy|migrations|docs)\/[\w./-]*\w)`/g,
    )) {
      // Tables of tests give paths below `test/`; commands leave out the end of a test's name.
      const meant = [named, `test/${named}`, `${named}.int.test.ts`];
      const found = await Promise.all(meant.map((one) => stat(join(ROOT, one)).catch(() => null)));
      if (found.every((one) => one === null)) absent.push(`${path}: ${named}`);
    }
  }
  expect(absent).toEqual([]);
});

test('every page takes at most ten minutes to read, and README fits on a screen and a half', () => {
  const long = docs.filter(
    (path) => !LOOKED_UP.includes(path) && countWords(files.get(path) ?? '') > LONGEST,
  );
  expect(long).toEqual([]);
  expect(files.get('README.md')?.split('\n').length).toBeLessThanOrEqual(120);
});

test('the API reference names every route with the role it needs', async () => {
  const text = files.get('docs/reference/api.md') ?? '';
  const rows = [...text.matchAll(/^\| `([A-Z]+ [^`]+)` \| ([a-z]+) \|/gm)].map(([, route, role]) => [
    route,
    role,
  ]);
  const routes = Object.entries(ACCESS_MATRIX).filter(([route]) => !isPage(route.replace(/^[A-Z]+ /, '')));
  expect(rows.toSorted()).toEqual(routes.toSorted());
});

test('the figures on unseen failures are the same on all pages', () => {
  const answers = files.get('docs/evidence/answers.md') ?? '';
  const figures = files.get('docs/evidence/figures.md') ?? '';
  const said = listUnseenFigures().map(({ cases, accuracy, macroF1, calibrationError, thresholds }) => {
    const {
      coverage = 0,
      wrong = 0,
      published = 1,
    } = thresholds.find(({ threshold }) => threshold === 0.85) ?? {};
    const share = `${Math.round(coverage * 100)} %, ${Math.round((wrong / published) * 100)} % (${wrong} of ${published}`;
    const row = answers
      .split('\n')
      .find(
        (line) => line.startsWith('|') && line.includes(`(${cases}`) && line.includes(accuracy.toFixed(3)),
      );
    return {
      inAnswers: [macroF1.toFixed(3), calibrationError.toFixed(3), share].filter(
        (figure) => !row?.includes(figure),
      ),
      inFigures: [
        accuracy.toFixed(3),
        `${Math.round(coverage * 100)} %, ${Math.round((wrong / published) * 100)} % (${wrong} of ${published})`,
      ].filter((figure) => !figures.includes(figure)),
    };
  });
  expect(said).toEqual([1, 2].map(() => ({ inAnswers: [], inFigures: [] })));
});
