import { describe, expect, test } from 'vitest';
import type { Evidence } from '../../src/domain/evidence.ts';
import { composeAnswer } from '../../src/judge/answer.ts';
import { assess } from '../../src/judge/verify.ts';
import { createInsight, createSubject, logEvidence } from './subject.ts';

const SECRET =
  './ci/pack.sh: line 9: ORCHARD_TOKEN: ORCHARD_TOKEN is not set; add it to the repository secrets\n##[error]Process completed with exit code 1.\n';
const ASSERTION =
  'FAILED tests/test_scales.py::test_weighs - AssertionError: assert 3 == 0\nE       AssertionError: assert 3 == 0\nConnection reset by peer\n';

function createEvidence(tool: string, data: Record<string, unknown>, score = 0.85): Evidence {
  return {
    id: 'E9',
    tool,
    title: 'ERR012: A secret is missing',
    text: 'The step needs a secret that is empty.',
    source: 'knowledge/ERR012',
    score,
    data,
  };
}

describe('answering', () => {
  test('states cause and fix in plain words, and quotes the line', () => {
    const answer = composeAnswer(createInsight(SECRET));
    expect(answer.title).toBe('The secret ORCHARD_TOKEN is not set');
    expect(answer.fixRecommendation).toContain('Add ORCHARD_TOKEN to the repository secrets');
    expect(answer.claims[0]?.quotes[0]).toMatchObject({ source: 'log.txt', line: 1 });
    expect(answer.hypotheses).toEqual([]);
  });

  test('prefers a cause that a person confirmed to its own advice', () => {
    const subject = createSubject(SECRET);
    const entry = createEvidence('search_error_library', {
      category: 'CONFIG_ERROR',
      kind: 'permission_or_secret',
      confirmedBy: 'ida',
      fixRecommendation: 'Renew the token in the vault.',
    });
    const answer = composeAnswer(
      createInsight(SECRET, { subject, evidence: [...logEvidence(subject), entry] }),
    );
    expect(answer.fixRecommendation).toMatch(/^Renew the token in the vault\..*ida/);
    expect(answer.claims).toContainEqual(expect.objectContaining({ evidence: ['E9'] }));
  });

  test('cites a matching document, and does not mix its advice with its own', () => {
    const subject = createSubject(SECRET);
    const document = createEvidence('search_knowledge', {
      category: 'CONFIG_ERROR',
      kind: 'permission_or_secret',
      fix: 'Look at who may read it.',
    });
    const answer = composeAnswer(
      createInsight(SECRET, { subject, evidence: [...logEvidence(subject), document] }),
    );
    expect(answer.fixRecommendation).not.toContain('Look at who may read it.');
    expect(answer.claims).toContainEqual(expect.objectContaining({ evidence: [document.id] }));
  });

  test('lists hypotheses with the check for each, if it is uncertain', () => {
    const answer = composeAnswer(createInsight('Finished: FAILURE\n'));
    expect(answer.confidence).toBeLessThan(0.5);
    expect(answer.hypotheses.length).toBeGreaterThanOrEqual(2);
    for (const hypothesis of answer.hypotheses) expect(hypothesis.settledBy).not.toBe('');
  });

  test('names commit and author of a suspect if blame found them', () => {
    const log = "src/scales.ts(40,7): error TS2339: Property 'grams' does not exist on type 'Basket'.\n";
    const subject = createSubject(log);
    const blame: Evidence = {
      id: 'E9',
      tool: 'read_blame',
      title: 'ida, 2026-01-01',
      text: 'x',
      source: 'src/scales.ts',
      data: { path: 'src/scales.ts', commit: 'abc123', author: 'ida' },
    };
    const [first] = composeAnswer(
      createInsight(log, { subject, evidence: [...logEvidence(subject), blame] }),
    ).suspects;
    expect(first).toMatchObject({ path: 'src/scales.ts', line: 40, commit: 'abc123', author: 'ida' });
  });
});

describe('verifying', () => {
  test('contradicts an answer that calls an assertion an infrastructure error', () => {
    const honest = createInsight(ASSERTION);
    const claimed = {
      ...honest,
      classification: {
        ...honest.classification,
        category: 'INFRA_ERROR' as const,
        kind: 'network' as const,
      },
    };
    const verdict = assess({ ...claimed, answer: composeAnswer(claimed) });
    expect(verdict.against.length).toBeGreaterThan(0);
    expect(verdict.confidence).toBeLessThan(assess({ ...honest, answer: composeAnswer(honest) }).confidence);
  });

  test('names claims that their evidence does not support, and lowers the confidence', () => {
    const insight = createInsight(SECRET);
    const answer = composeAnswer(insight);
    const invented = { text: 'Penguins unplugged Antarctica yesterday', evidence: ['E1'], quotes: [] };
    const nowhere = { text: 'The cache was cold', evidence: ['E77'], quotes: [] };
    const verdict = assess({
      ...insight,
      answer: { ...answer, claims: [...answer.claims, invented, nowhere] },
    });
    expect(verdict.unsupportedClaims).toEqual([invented.text, nowhere.text]);
    expect(verdict.gaps.join()).toContain('2 claims are not backed');
    expect(verdict.confidence).toBeLessThan(assess({ ...insight, answer }).confidence);
  });

  test('never uses only the confidence that the answer states', () => {
    const insight = createInsight('Finished: FAILURE\n');
    const verdict = assess({ ...insight, answer: { ...composeAnswer(insight), confidence: 0.99 } });
    expect(verdict.confidence).toBeLessThan(0.5);
    expect(verdict.gaps.length).toBeGreaterThan(0);
  });

  test('grades all evidence, and documents about another kind as irrelevant', () => {
    const subject = createSubject(SECRET);
    const other = createEvidence('search_knowledge', { category: 'INFRA_ERROR', kind: 'disk_full' });
    const insight = createInsight(SECRET, { subject, evidence: [...logEvidence(subject), other] });
    const { grades } = assess({ ...insight, answer: composeAnswer(insight) });
    expect(Object.keys(grades)).toEqual(insight.evidence.map((item) => item.id));
    expect(grades.E9).toBe('irrelevant');
    expect(grades.E1).toBe('relevant');
  });

  test('counts a different decision of a person as a contradiction', () => {
    const subject = createSubject(SECRET);
    const entry = createEvidence('search_error_library', {
      category: 'INFRA_ERROR',
      kind: 'network',
      confirmedBy: 'ida',
    });
    const insight = createInsight(SECRET, { subject, evidence: [...logEvidence(subject), entry] });
    expect(assess({ ...insight, answer: composeAnswer(insight) }).against).toContain('E9');
  });
});

describe('a document about another kind of failure', () => {
  const LOG =
    'panic: lease table is exhausted\n\ngoroutine 1 [running]:\nlease.Take(...)\n\t/src/lease.go:44\nexit status 2\n';
  const document = (matchedPhrase: string, more: Record<string, unknown> = {}, score = 0.9) =>
    createEvidence(
      'search_knowledge',
      { category: 'INFRA_ERROR', kind: 'network', matchedPhrase, ...more },
      score,
    );
  const sureness = (...evidence: Evidence[]) => {
    const insight = createInsight(LOG);
    const whole = { ...insight, evidence: [...insight.evidence, ...evidence] };
    return assess({ ...whole, answer: composeAnswer(whole) });
  };

  test('lowers the confidence if its distinctive words are in the message', () => {
    const { confidence, factors } = sureness(document('lease table is exhausted'));
    expect(confidence).toBeLessThan(sureness().confidence);
    expect(factors?.find(({ name }) => name === 'document')?.because).toContain('describes INFRA_ERROR');
  });

  test('begins with the probability of the classification, which may not come from the log alone', () => {
    expect(sureness().factors?.[0]?.because).toMatch(/^the classification gives [A-Z_]+ a probability of/);
  });

  test.each<[string, Evidence]>([
    ['its words are not all there', document('lease table is locked')],
    ['it is only somewhat alike', document('lease table is exhausted', {}, 0.6)],
    [
      'it is about the same category',
      document('lease table is exhausted', { category: 'CODE_ERROR', kind: 'crash' }),
    ],
    ['its words are in every log', document('process failed with error code')],
    ['it has no category', document('lease table is exhausted', { category: null })],
  ])('changes nothing if %s', (_why, evidence) => {
    expect(sureness(evidence).confidence).toBe(sureness().confidence);
  });

  test('changes nothing if a document about the right kind is equally similar', () => {
    const own = {
      ...document('lease table is exhausted', { category: 'CODE_ERROR', kind: 'crash' }),
      id: 'E10',
    };
    expect(sureness(document('lease table is exhausted'), own).confidence).toBe(sureness().confidence);
  });
});
