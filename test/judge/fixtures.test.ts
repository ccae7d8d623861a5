import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Answer, Classification } from '../../src/domain/analysis.ts';
import { Category } from '../../src/domain/category.ts';
import { composeAnswer } from '../../src/judge/answer.ts';
import { assess } from '../../src/judge/verify.ts';
import { createInsight, createSubject } from './subject.ts';

const FOLDER = 'test/fixtures/failures';
const Truth = z.object({ category: Category, alsoOk: z.array(Category), kind: z.string() });

const CASES = readdirSync(FOLDER)
  .filter((slug) => existsSync(join(FOLDER, slug, 'log.txt')) && existsSync(join(FOLDER, slug, 'truth.json')))
  .map((slug) => {
    const report = join(FOLDER, slug, 'report.xml');
    const log = readFileSync(join(FOLDER, slug, 'log.txt'), 'utf8');
    const subject = createSubject(log, existsSync(report) ? { report: readFileSync(report, 'utf8') } : {});
    const truth = Truth.parse(JSON.parse(readFileSync(join(FOLDER, slug, 'truth.json'), 'utf8')));
    return { slug, log, truth, insight: createInsight(log, { subject }) };
  });

describe('captured failures', () => {
  test('have the right category in at least nine of ten, and the right kind in at least four of five', () => {
    const wrong = CASES.filter(
      ({ truth, insight }) => ![truth.category, ...truth.alsoOk].includes(insight.classification.category),
    );
    const otherKind = CASES.filter(({ truth, insight }) => truth.kind !== insight.classification.kind);
    expect(CASES.length).toBeGreaterThanOrEqual(25);
    expect(
      wrong.map(({ slug, insight }) => `${slug}: ${insight.classification.because}`).length / CASES.length,
      wrong.map(({ slug }) => slug).join(),
    ).toBeLessThanOrEqual(0.1);
    expect(otherKind.length / CASES.length, otherKind.map(({ slug }) => slug).join()).toBeLessThanOrEqual(
      0.2,
    );
  });

  test('of code and tests are never called infrastructure errors', () => {
    const ours = CASES.filter(
      ({ truth }) => truth.category === 'CODE_ERROR' || truth.category === 'TEST_FAILURE',
    );
    expect(
      ours.filter(({ insight }) => insight.classification.category === 'INFRA_ERROR').map(({ slug }) => slug),
    ).toEqual([]);
  });

  test.each(CASES)(
    'have claims with evidence, and quotations that are literally in the log: $slug',
    ({ log, insight }) => {
      const answer = composeAnswer(insight);
      Answer.parse(answer);
      Classification.parse(insight.classification);
      const lines = log.split('\n');
      const known = new Set(insight.evidence.map((item) => item.id));
      expect(answer.claims.length).toBeGreaterThan(0);
      for (const claim of answer.claims) {
        expect(claim.evidence.length).toBeGreaterThan(0);
        for (const id of claim.evidence) expect(known).toContain(id);
        for (const quote of claim.quotes) expect(lines[quote.line - 1]).toContain(quote.text);
      }
      expect(answer.title).not.toMatch(/\n/);
      expect(answer.title.length).toBeLessThanOrEqual(120);
      const verdict = assess({ ...insight, answer });
      expect(verdict.unsupportedClaims).toEqual([]);
      expect(composeAnswer(insight)).toEqual(answer);
    },
  );
});
