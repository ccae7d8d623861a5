import { describe, expect, it } from 'vitest';
import type { Analysis, Answer } from '../../src/domain/analysis.ts';
import type { Failure } from '../../src/domain/failure.ts';
import { type GradableAnswer, gradeAnswer } from '../../src/domain/grade-answer.ts';
import type { ChangedPath, GradedAnswer, GradeQuestion, Outcome } from '../../src/domain/outcome.ts';
import { createMainBuild } from '../notifications/sample-situation.ts';
import { sampleAnalysis, sampleFailure } from '../support/sample-analysis.ts';

const red = createMainBuild({
  id: 'red',
  number: '1',
  commit: 'a'.repeat(40),
  receivedAt: '2026-10-12T09:00:00.000Z',
});
const green = createMainBuild({
  id: 'green',
  number: '2',
  commit: 'b'.repeat(40),
  receivedAt: '2026-10-12T10:00:00.000Z',
});
const commit = { commit: 'b'.repeat(40), subject: 'Round once', author: 'Ada' };

function createChangedPath(path: string, patch = '@@ -1,1 +1,1 @@\n-before\n+after'): ChangedPath {
  return { path, previousPath: null, status: 'modified', patch };
}

function createChange(
  files: readonly ChangedPath[],
  more: Partial<NonNullable<Outcome['change']>> = {},
): Partial<Outcome> {
  return { change: { commits: [commit], files, truncated: false, isRewritten: false, ...more } };
}

const RERUN: Partial<Outcome> = { green: { ...green, number: '1', attempt: 2, commit: red.commit } };

interface Case {
  readonly analysis?: Partial<Analysis>;
  readonly answer?: Partial<Answer>;
  readonly failures?: readonly Failure[];
  readonly whose?: GradableAnswer['whose'];
  readonly outcome: Partial<Outcome>;
}

function grade({
  analysis,
  answer,
  failures = [sampleFailure()],
  whose = null,
  outcome,
}: Case): GradedAnswer {
  const base = sampleAnalysis(analysis);
  return gradeAnswer(
    { analysis: { ...base, answer: { ...base.answer, ...answer } }, failures, whose },
    {
      red,
      green,
      times: 1,
      since: red.receivedAt,
      failedAgain: 0,
      isRebuiltPullRequest: false,
      clocksDisagree: false,
      change: null,
      tests: ['passed'],
      others: [],
      ...outcome,
    },
  );
}

function read({ grades }: GradedAnswer, question: GradeQuestion) {
  return grades.find((one) => one.question === question)?.grade ?? null;
}

/** A step that failed without a test. */
const step = (message: string, file: string | null = null) =>
  sampleFailure({
    test: null,
    message,
    excerpt: null,
    frames: file === null ? [] : [{ file, line: 1, function: null, own: true }],
  });

describe('grading an answer by what happened next', () => {
  it('confirms the cause if a suspect was changed and its test passes again', () => {
    const graded = grade({
      outcome: createChange([createChangedPath('src/cart/tax.ts'), createChangedPath('README.md')]),
    });
    expect(graded.mend).toMatchObject({ kind: 'change', files: ['src/cart/tax.ts'], doubt: null });
    expect(read(graded, 'category')).toBe('right');
    expect(read(graded, 'suspect')).toBe('right');
    expect(read(graded, 'advice')).toBe('right');
  });

  it('refutes the cause if the fix belongs to another category', () => {
    const failures = [step("error: Package 'left-pad' has no version 9")];
    const patch = '@@ -3,1 +3,1 @@\n-    "left-pad": "^9.0.0",\n+    "left-pad": "^1.3.0",';
    const graded = grade({
      failures,
      outcome: { ...createChange([createChangedPath('package.json', patch)]), tests: [] },
    });
    expect(read(graded, 'category')).toBe('wrong');
    expect(read(graded, 'suspect')).toBe('wrong');
    const said = { category: 'DEPENDENCY_ERROR', kind: 'version_conflict' } as const;
    const right = grade({
      failures,
      analysis: said,
      outcome: { ...createChange([createChangedPath('package.json', patch)]), tests: [] },
    });
    expect(read(right, 'category')).toBe('right');
  });

  it('takes a passed rerun as a transient failure, and does not grade the suspects', () => {
    const infra = { category: 'INFRA_ERROR', kind: 'network' } as const;
    const graded = grade({
      analysis: infra,
      answer: { transient: 0.9, act: 'rerun' },
      failures: [step('connect ECONNREFUSED')],
      whose: 'machine',
      outcome: { ...RERUN, tests: [] },
    });
    expect(graded.mend.kind).toBe('rerun');
    expect(read(graded, 'category')).toBe('right');
    expect(read(graded, 'transient')).toBe('right');
    expect(read(graded, 'excuse')).toBe('right');
    expect(read(graded, 'advice')).toBe('right');
    expect(read(graded, 'suspect')).toBeNull();
    const compiles = grade({ analysis: { category: 'CODE_ERROR', kind: 'compile_error' }, outcome: RERUN });
    expect(read(compiles, 'category')).toBe('wrong');
  });

  it('refutes the advice if a file of another kind than the advised one fixed it', () => {
    const advised = { act: 'configuration', fixRecommendation: 'Set API_URL in the job.' } as const;
    const graded = grade({ answer: advised, outcome: createChange([createChangedPath('src/cart/tax.ts')]) });
    expect(read(graded, 'advice')).toBe('wrong');
    const settings = grade({
      answer: advised,
      outcome: createChange([createChangedPath('deploy/values.yaml')]),
    });
    expect(read(settings, 'advice')).toBe('right');
  });

  it('accepts a pinned version for a cause in a dependency, but not code that was adapted to it', () => {
    const failures = [step("cannot import name 'weigh' from 'scales'")];
    const pin = createChangedPath('requirements.txt', '@@ -1,1 +1,1 @@\n-scales\n+scales==2.4.1');
    const mended = (files: readonly ChangedPath[]) =>
      grade({ failures, whose: 'environment', outcome: { ...createChange(files), tests: [] } });
    expect(read(mended([pin]), 'excuse')).toBe('right');
    expect(read(mended([createChangedPath('press/juice.py')]), 'excuse')).toBe('doubtful');
  });

  it('does not take a changed secret for a transient failure', () => {
    const said = { category: 'CONFIG_ERROR', kind: 'permission_or_secret' } as const;
    const failures = [step('401 Unauthorized')];
    const graded = grade({
      analysis: said,
      answer: { transient: 0.1 },
      failures,
      outcome: { ...RERUN, tests: [] },
    });
    expect(read(graded, 'category')).toBe('doubtful');
    expect(read(graded, 'transient')).toBe('doubtful');
  });

  it('refutes "transient" if the same commit failed again and a change fixed it', () => {
    const infra = { category: 'INFRA_ERROR', kind: 'timeout' } as const;
    const outcome = { ...createChange([createChangedPath('src/cart/tax.ts')]), failedAgain: 1, times: 2 };
    const graded = grade({ analysis: infra, answer: { transient: 0.8 }, whose: 'flaky', outcome });
    expect(read(graded, 'transient')).toBe('wrong');
    expect(read(graded, 'excuse')).toBe('wrong');
  });

  it.each([
    [
      'the test was skipped',
      createChangedPath('test/cart.test.ts', "@@ -1,1 +1,1 @@\n-it('cart total'\n+it.skip('cart total'"),
    ],
    ['the test was removed', { ...createChangedPath('test/cart.test.ts'), status: 'removed' as const }],
    [
      'an assertion was removed',
      createChangedPath('test/cart.test.ts', '@@ -1,2 +1,1 @@\n-  expect(total).toBe(10.2);\n   done();'),
    ],
    [
      'the check was told to be silent',
      createChangedPath('src/cart/tax.ts', '@@ -1,1 +1,2 @@\n+// eslint-disable-next-line\n sum();'),
    ],
    [
      'the job may fail now',
      createChangedPath('.github/workflows/ci.yml', '@@ -1,1 +1,2 @@\n+  continue-on-error: true\n run'),
    ],
  ])('grades nothing if the build passed because %s', (words, changed) => {
    const { grades, mend } = grade({ outcome: { ...createChange([changed]), tests: ['unknown'] } });
    expect(mend.doubt).toBe(`green because ${words}`);
    expect(new Set(grades.map((one) => one.grade))).toEqual(new Set(['doubtful']));
  });

  it('trusts the results of the passed build about a skipped test', () => {
    const outcome = { ...createChange([createChangedPath('src/cart/tax.ts')]), tests: ['skipped'] as const };
    expect(grade({ outcome }).mend.doubt).toBe('green because the test was skipped');
    const other = createChangedPath('test/other.test.ts', "@@ -1,1 +1,1 @@\n-it('other'\n+it.skip('other'");
    expect(
      read(grade({ outcome: createChange([createChangedPath('src/cart/tax.ts'), other]) }), 'category'),
    ).toBe('right');
    expect(
      grade({ outcome: { ...createChange([createChangedPath('a.ts')]), tests: ['absent'] } }).mend.doubt,
    ).toMatch(/did not run/);
  });

  it('grades nothing by a change that touches everything or cannot be read', () => {
    const many = Array.from({ length: 30 }, (_, at) => createChangedPath(`src/part-${at}.ts`));
    expect(grade({ outcome: createChange(many) }).mend.doubt).toBe('the change touches 30 files');
    // What the failure names is told apart from the rest.
    expect(
      read(grade({ outcome: createChange([...many, createChangedPath('src/cart/tax.ts')]) }), 'suspect'),
    ).toBe('right');
    expect(grade({ outcome: createChange(many, { truncated: true }) }).mend.doubt).toMatch(/too large/);
    expect(grade({ outcome: { change: null } }).mend).toMatchObject({ kind: 'unknown' });
  });

  it('grades advice without a file by the role of the changed files', () => {
    const outcome = { ...createChange([createChangedPath('src/cart/tax.ts')]), tests: ['passed'] as const };
    const advise = (act: Answer['act']) => ({ fixRecommendation: 'Correct it.', act });
    expect(read(grade({ answer: advise('code'), outcome }), 'advice')).toBe('right');
    expect(read(grade({ answer: advise('dependency'), outcome }), 'advice')).toBe('wrong');
  });

  it('grades nothing if the passed build allows the test to fail', () => {
    const outcome = { ...createChange([createChangedPath('src/cart/tax.ts')]), tests: ['failed'] as const };
    expect(grade({ outcome }).mend.doubt).toMatch(/failed again in the passed build/);
  });

  it('grades two causes separately that one commit fixed', () => {
    const others = ['src/print/label.ts: cannot print'];
    const outcome = {
      ...createChange([createChangedPath('src/print/label.ts'), createChangedPath('src/cart/tax.ts')]),
      others,
    };
    expect(grade({ outcome }).mend.files).toEqual(['src/cart/tax.ts']);
  });

  it('grades nothing if clocks disagree, or if other changes arrived in a merge', () => {
    expect(
      grade({ outcome: { ...createChange([createChangedPath('src/cart/tax.ts')]), clocksDisagree: true } })
        .mend.doubt,
    ).toMatch(/clocks/);
    const merge = { commits: [{ ...commit, subject: "Merge branch 'main' into change-7" }] };
    const merged = grade({
      whose: 'main',
      outcome: createChange([createChangedPath('src/cart/tax.ts')], merge),
    });
    expect(read(merged, 'excuse')).toBe('doubtful');
    expect(grade({ outcome: createChange([createChangedPath('src/else.ts')], merge) }).mend.doubt).toMatch(
      /merges others/,
    );
    expect(
      grade({ outcome: createChange([createChangedPath('src/else.ts')], { isRewritten: true }) }).mend.doubt,
    ).toMatch(/rewritten/);
    const amended = grade({
      outcome: createChange([createChangedPath('src/cart/tax.ts')], { isRewritten: true }),
    });
    expect(read(amended, 'suspect')).toBe('right');
  });

  it('grades nothing that may have disappeared by itself', () => {
    const infra = { category: 'INFRA_ERROR', kind: 'network' } as const;
    const failures = [step('connect ECONNREFUSED')];
    const graded = grade({
      analysis: infra,
      failures,
      answer: { transient: 0.9 },
      outcome: createChange([createChangedPath('src/a.ts')]),
    });
    expect(read(graded, 'category')).toBe('doubtful');
    expect(read(graded, 'transient')).toBe('doubtful');
    const notes = grade({
      analysis: infra,
      failures,
      outcome: { ...createChange([createChangedPath('notes/1.md')]), tests: [] },
    });
    expect(notes.mend.kind).toBe('nothing');
    expect(read(notes, 'category')).toBe('right');
  });

  it('works with hostile names and texts', () => {
    const path = `${'a/'.repeat(2_000)}\u202e$(rm -rf).ts`;
    const failures = [sampleFailure({ message: '('.repeat(100_000) })];
    const graded = grade({
      failures,
      outcome: createChange([createChangedPath(path, `@@ -1,1 +1,1 @@\n-${'['.repeat(50_000)}\n+x`)]),
    });
    expect(graded.mend.files).toEqual([path]);
  });
});
