import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createNoticeLinks } from '../../src/notifications/notice-words.ts';
import { renderCheck } from '../../src/notifications/render-check.ts';
import { renderComment } from '../../src/notifications/render-comment.ts';
import { renderStatus } from '../../src/notifications/render-status.ts';
import type { BuildSituation, Situation } from '../../src/ports/notices.ts';
import { hostile, removeCode, renderMarkdownText } from '../support/hostile-text.ts';
import { createRecalledAnalysis, createUnsureAnalysis, sampleAnalysis } from '../support/sample-analysis.ts';
import { runs } from '../support/thorough.ts';
import {
  createCause,
  createDecision,
  createHead,
  createMainBuild,
  createSituation,
  FAILS,
  NO_HISTORY,
  pullRequestBuild,
} from './sample-situation.ts';

const RUNS = runs(100);
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const ADDRESS = 'https://fl.example';
const LINKS = createNoticeLinks(ADDRESS);

/** Situations in which everything that others write is hostile. */
const poisoned = fc
  .tuple(
    fc.array(hostile, { minLength: 14, maxLength: 14 }),
    fc.constantFrom('answers', 'fixed', 'looking', 'failed'),
  )
  .map(([texts, state]) => poison((index) => texts[index % texts.length] ?? '', state));

function poison(text: (index: number) => string, state: string): Situation {
  const build = pullRequestBuild({ pipeline: text(0), number: text(1), commit: text(2), branch: text(3) });
  const analyses = [sampleAnalysis(), createUnsureAnalysis({ id: 'ana_2' }), createRecalledAnalysis()].map(
    (analysis) => ({
      ...analysis,
      answer: {
        ...analysis.answer,
        title: text(4),
        rootCause: text(5),
        fixRecommendation: text(6),
        claims: [{ text: '', evidence: [], quotes: [{ source: text(7), line: 7, text: text(8) }] }],
        suspects: [
          { path: text(9), line: 3, commit: text(10), author: text(11), score: 0.5, reason: text(12) },
        ],
        hypotheses: analysis.answer.hypotheses.map((hypothesis) => ({
          ...hypothesis,
          text: text(12),
          settledBy: text(13),
        })),
      },
      recalled: analysis.recalled === null ? null : { ...analysis.recalled, confirmedBy: text(11) },
    }),
  );
  const since = pullRequestBuild({ pipeline: text(0), number: text(13) });
  const history = {
    ...NO_HISTORY,
    defaultBranch: {
      ...FAILS,
      name: text(3),
      since: createMainBuild({ pipeline: text(0), number: text(13), author: text(11), commit: text(10) }),
    },
  };
  const review = createDecision('correct', { reviewer: text(11), rootCause: text(5), reason: text(6) });
  const causes = analyses.map((analysis, index) =>
    createCause(analysis, { tests: [text(8), text(9)], history, review: index === 0 ? review : null }),
  );
  const question: BuildSituation['question'] = {
    id: 'que_1',
    kind: 'question',
    triageId: 'tri_1',
    buildId: 'bld_1',
    repository: 'shop/api',
    title: '',
    state: 'waiting',
    category: 'CONFIG_ERROR',
    question: text(5),
    answer: null,
    answeredBy: null,
    answeredAt: null,
    openedAt: '2026-10-12T14:02:00.000Z',
    expiresAt: '2026-10-13T14:02:00.000Z',
  };
  if (state === 'looking') return createSituation(createHead({ build, question }));
  if (state === 'failed')
    return createSituation(createHead({ build, job: { state: 'failed', error: text(5) } }));
  const lastFailed = { build, fixedBy: since, failures: 3, causes: analyses };
  if (state === 'fixed')
    return createSituation(createHead({ build: { ...build, status: 'passed' }, lastFailed }));
  return createSituation(createHead({ build, causes }));
}

function listTexts(situation: Situation): string[] {
  const check = renderCheck(situation, LINKS);
  return [renderComment(situation, LINKS)?.body ?? '', check?.summary ?? '', check?.text ?? ''];
}

describe('hostile text in notices', () => {
  it('creates no element and no link except ours', () => {
    fc.assert(
      fc.property(poisoned, (situation) => {
        for (const markdown of listTexts(situation)) {
          const page = renderMarkdownText(markdown);
          const tags = new Set(
            Array.from(page.matchAll(/<(\/?[a-z][a-z0-9]*|!--)/gi), ([, tag = '']) => tag.replace('/', '')),
          );
          const ours = [
            'details',
            'summary',
            'b',
            'p',
            'strong',
            'pre',
            'code',
            'sub',
            'ol',
            'ul',
            'li',
            'br',
            'a',
          ];
          expect([...tags].filter((tag) => !ours.includes(tag))).toEqual([]);
          for (const [, address = ''] of page.matchAll(/href="([^"]*)"/g))
            expect(address.startsWith(`${ADDRESS}/`)).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('UX 47: mentions nobody, refers to no issue, forges no marker and gives no bot a command', () => {
    fc.assert(
      fc.property(poisoned, (situation) => {
        for (const markdown of listTexts(situation)) {
          expect(markdown).not.toContain('<!--');
          const read = removeCode(renderMarkdownText(markdown)).replace(/href="[^"]*"/g, '');
          expect(read).not.toMatch(/@\w|(?<!&)#\d|GH-\d|:\/\/|www\.\w/i);
          expect(markdown).not.toMatch(/^\s*\//m);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('leaves no block open', () => {
    fc.assert(
      fc.property(poisoned, (situation) => {
        for (const markdown of listTexts(situation)) {
          const page = renderMarkdownText(markdown);
          expect(page.match(/<\/details>/g)?.length ?? 0).toBe(
            page.match(/<details(?: open)?><summary>/g)?.length ?? 0,
          );
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('has its invisible characters shown, also in titles, annotations and statuses', () => {
    fc.assert(
      fc.property(poisoned, (situation) => {
        const check = renderCheck(situation, LINKS);
        const remarks =
          check?.annotations.flatMap(({ title, message, path }) => [title, message, path]) ?? [];
        for (const text of [
          check?.title ?? '',
          renderStatus(situation, LINKS)?.description ?? '',
          ...remarks,
        ]) {
          expect(text).not.toMatch(UNSEEN);
        }
        for (const markdown of listTexts(situation))
          expect(markdown.replace(/[\n\u200b]/g, '')).not.toMatch(UNSEEN);
      }),
      { numRuns: RUNS },
    );
  });
});

it('no template states that something is safe or may be merged (UX f)', async () => {
  const folder = resolve(import.meta.dirname, '../../src/notifications');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ts'));
  expect(names.length).toBeGreaterThan(8);
  for (const name of names) {
    const code = (await readFile(join(folder, name), 'utf8')).replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '');
    expect(code, name).not.toMatch(/\b(?:merge|merged|safe|safely|LGTM)\b/i);
  }
});
