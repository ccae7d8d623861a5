import { describe, expect, it } from 'vitest';
import type { Analysis } from '../../src/domain/analysis.ts';
import type { Category } from '../../src/domain/category.ts';
import type { Failure } from '../../src/domain/failure.ts';
import type { FailureHistory } from '../../src/domain/failure-history.ts';
import { judgeWhose } from '../../src/domain/judge-whose.ts';
import { agreeOnFix, isExcused } from '../../src/domain/whose.ts';
import { formatWhoseSentence } from '../../src/notifications/whose-line.ts';
import {
  createFailure,
  createMainBuild,
  FAILS,
  FIRST_HERE,
  NO_HISTORY,
  PASSES,
  pullRequestBuild,
} from '../notifications/sample-situation.ts';
import { sampleAnalysis } from '../support/sample-analysis.ts';

const OTHER_FILE = { ...sampleAnalysis().answer, suspects: [] };
/** The test of the cart, whose own code no change touches. */
const flaky = { runs: 15, flakes: 3, alike: 3, passedOnDefault: true, isNew: false };

interface Change {
  readonly history?: Partial<FailureHistory>;
  readonly analysis?: Partial<Analysis>;
  readonly category?: Category;
  readonly failures?: readonly Failure[];
}

function judge({ history, analysis, category, failures = [createFailure('cart total')] }: Change) {
  const judged = sampleAnalysis({ answer: OTHER_FILE, evidence: [], ...analysis });
  return judgeWhose({
    build: pullRequestBuild({ author: 'Ada' }),
    analysis: judged,
    category: category ?? judged.category,
    failures,
    history: { ...NO_HISTORY, ...history },
  });
}

/** What the tool says that changed since the last green build. */
function createChanges(...files: readonly string[]): Partial<Analysis> {
  const text = { title: 'changes', text: '', source: 'compare/a...b' };
  return { evidence: [{ id: 'E1', tool: 'changed_since_green', ...text, data: { files } }] };
}

describe('the origin of a failure', () => {
  it('is the change if the default branch passes and no other change has the failure', () => {
    const whose = judge({ history: FIRST_HERE });
    expect(whose).toMatchObject({ verdict: 'change', probability: 0.95, act: { what: 'fix', path: null } });
    const answer = sampleAnalysis().answer;
    const [suspect] = answer.suspects;
    const touched = judge({
      history: FIRST_HERE,
      analysis: { answer, ...createChanges(suspect?.path ?? '') },
    });
    expect(touched).toMatchObject({
      verdict: 'change',
      probability: 0.98,
      act: { what: 'fix', path: suspect?.path, line: suspect?.line },
    });
  });

  it('is open if the change is known and touches nothing near the failure', () => {
    expect(judge({ history: FIRST_HERE, analysis: createChanges('notes/1.md') }).verdict).toBe('unknown');
  });

  it('is the change if the message states only how a test ended, and the change touches a suspect', () => {
    const answer = sampleAnalysis().answer;
    const history = { ...FIRST_HERE, generic: true };
    const [suspect] = answer.suspects;
    expect(judge({ history }).verdict).toBe('unknown');
    expect(judge({ history, analysis: { answer, ...createChanges(suspect?.path ?? '') } }).verdict).toBe(
      'change',
    );
  });

  it('is a dependency if a new major version is named, and the change does not concern it', () => {
    const changes = {
      since: { buildId: 'green', number: '12', url: null },
      isSameCommit: false,
      changes: [
        {
          kind: 'python' as const,
          name: 'scales',
          from: '2.4.1',
          to: '3.0.0',
          chosenBy: null,
          at: null,
          link: "cannot import name 'weigh' from 'scales'",
        },
      ],
      more: 0,
    };
    const verdictWith = (...files: readonly string[]) =>
      judge({ history: FIRST_HERE, analysis: { changes, ...createChanges(...files) } }).verdict;
    const whose = judge({ history: FIRST_HERE, analysis: { changes, ...createChanges('notes/1.md') } });
    expect(whose).toMatchObject({
      verdict: 'environment',
      probability: 0.95,
      proof: [{ what: 'version', isSameCommit: false }],
      act: { what: 'pin' },
    });
    expect(formatWhoseSentence(whose)).toBe(
      'Most likely no, what it runs with changed (95 %): scales 2.4.1 → 3.0.0 since build 12, and this change ' +
        'touches nothing near it. Pin scales to 2.4.1 (`scales==2.4.1`), or make the code work with 3.0.0.',
    );
    expect(verdictWith('notes/1.md', 'requirements.txt')).not.toBe('environment');
    expect(verdictWith(createFailure('cart total').test?.file ?? '')).not.toBe('environment');
    expect(judge({ history: FIRST_HERE, analysis: { changes } }).verdict).not.toBe('environment');
  });

  it('is the default branch while that is broken, with what to wait for', () => {
    const history = { defaultBranch: FAILS, seenElsewhere: true };
    expect(judge({ history })).toMatchObject({
      verdict: 'main',
      probability: null,
      proof: [{ what: 'fails-on', branch: 'main', since: { number: '790' } }],
      act: { what: 'rebase', on: null },
    });
    const mended = { ...history, defaultBranch: { ...FAILS, fixedBy: createMainBuild({ number: '815' }) } };
    expect(judge({ history: mended }).act).toMatchObject({ what: 'rebase', on: { number: '815' } });
  });

  it('is the commit that the answer names if no build proves another, with a note if it is yours', () => {
    const { answer } = sampleAnalysis();
    const suspects = [
      {
        path: 'members/greeting.py',
        line: 3,
        commit: 'ad16b680c0ffee',
        author: 'Ben',
        reason: '',
        score: 0.9,
      },
    ];
    const named = {
      answer: { ...answer, suspects, rootCause: 'Commit ad16b680c0 (Ben) removed the check.' },
    };
    const onMain = judge({ analysis: named, history: { isDefault: true } });
    expect(onMain).toMatchObject({ verdict: 'unknown', act: { what: 'fix', path: 'members/greeting.py' } });
    expect(formatWhoseSentence(onMain)).toBe(
      'Most likely ad16b68 by Ben: named by the answer, not yet proven by builds. ' +
        'Start at members/greeting.py:3.',
    );
    expect(formatWhoseSentence(judge({ analysis: named }))).toBe(
      'Not known yet: the answer names commit ad16b68 by Ben. Yours if your change contains that commit.',
    );
    const silent = { answer: { ...answer, suspects, rootCause: 'The check is missing.' } };
    expect(judge({ analysis: silent, history: { isDefault: true } }).proof).toEqual([]);
  });

  it('is stated to be unknown without an earlier build to compare with', () => {
    expect(formatWhoseSentence(judge({}))).toBe('Not known yet. No earlier build is known to compare with.');
  });

  it('is not the default branch if the failure was first seen in this change', () => {
    const own = { ...NO_HISTORY.own, firstAt: '2026-10-12T08:00:00.000Z', times: 2 };
    const whose = judge({ history: { defaultBranch: FAILS, seenElsewhere: true, own } });
    expect(whose).toMatchObject({ verdict: 'unknown', act: { what: 'try' } });
  });

  it('is not a flaky test if one person broke it, reverted it and broke it again', () => {
    const by = (author: string) =>
      judge({
        history: {
          seenElsewhere: true,
          defaultBranch: {
            ...PASSES,
            lastFailed: createMainBuild({ author }),
            fixedBy: createMainBuild({ number: '791' }),
          },
        },
      }).verdict;
    expect(by('Max')).toBe('main');
    expect(by('Ada')).toBe('unknown');
  });

  it('is flakiness if the same commit passed, and the change if only the change has the test', () => {
    const passedAgain = createMainBuild({ number: '812', attempt: 2 });
    expect(judge({ history: { ...FIRST_HERE, passedAgain } })).toMatchObject({
      verdict: 'flaky',
      probability: null,
      proof: [{ what: 'passed-again' }],
      act: { what: 'nothing' },
    });
    const test = { runs: 0, flakes: 0, alike: 0, passedOnDefault: false, isNew: true };
    expect(judge({ history: { ...FIRST_HERE, passedAgain, test } }).verdict).toBe('change');
    expect(judge({ history: { passedAgain }, category: 'INFRA_ERROR' }).verdict).toBe('machine');
  });

  it('is flakiness by its history, unless it failed too often in a row or the change is near', () => {
    const past = { ...FIRST_HERE, seenElsewhere: true, test: flaky };
    expect(judge({ history: past })).toMatchObject({
      verdict: 'flaky',
      probability: 0.98,
      proof: [{ what: 'flakes', flakes: 3, runs: 15 }],
      act: { what: 'rerun' },
    });
    expect(judge({ history: { ...past, test: { ...flaky, alike: 0 } } }).verdict).toBe('unknown');
    expect(judge({ history: { ...past, own: { ...NO_HISTORY.own, times: 3 } } }).verdict).toBe('unknown');
    const failure = createFailure('cart total');
    const file = failure.test?.file ?? '';
    expect(file).not.toBe('');
    const near = judge({ history: past, analysis: createChanges(file), failures: [failure] });
    expect(near.verdict).toBe('unknown');
  });

  it('is the machine if the step says so, but not if only the output of a changed test says so', () => {
    const machine = { category: 'INFRA_ERROR', kind: 'service_unavailable' } as const;
    const classification = { ...sampleAnalysis().classification, confidence: 0.95 };
    const [step] = [createFailure('cart total')].map((failure) => ({ ...failure, test: null }));
    const failures = step === undefined ? [] : [step];
    const inStep = judge({
      analysis: { ...machine, classification, ...createChanges('notes/1.md') },
      failures,
    });
    expect(inStep).toMatchObject({ verdict: 'machine', probability: 0.95, act: { what: 'rerun' } });
    expect(judge({ analysis: { ...machine, classification } }).verdict).toBe('unknown');
    // The change may have named the service.
    expect(judge({ analysis: { ...machine, classification }, failures }).verdict).toBe('unknown');
    const naming = { ...machine, classification, ...createChanges('.npmrc') };
    expect(judge({ analysis: naming, failures }).verdict).toBe('unknown');
    const file = 'notes/1.md';
    for (const more of [{ truncated: true }, { fileCount: 2 }, { sinceGreen: false }]) {
      const [evidence] = createChanges(file).evidence ?? [];
      const cut = evidence === undefined ? [] : [{ ...evidence, data: { files: [file], ...more } }];
      const analysis = { ...machine, classification, evidence: cut };
      expect(judge({ analysis, failures }).verdict).toBe('unknown');
    }
    const full = { category: 'INFRA_ERROR', kind: 'disk_full', classification } as const;
    expect(judge({ analysis: full, failures }).verdict).toBe('machine');
    const outOfTime = { category: 'INFRA_ERROR', kind: 'timeout', classification } as const;
    expect(judge({ analysis: outOfTime, failures }).verdict).toBe('unknown');
  });

  it('agrees with the advice: failures of the change are not rerun, and a broken main is fixed there', () => {
    const change = judge({ history: FIRST_HERE });
    expect(agreeOnFix('Run the job again.', 'rerun', change)).toBe('');
    expect(agreeOnFix('Round once.', 'code', change)).toBe('Round once.');
    const main = judge({ history: { defaultBranch: FAILS, seenElsewhere: true } });
    expect(agreeOnFix('Round once.', 'code', main)).toBe('On the default branch: Round once.');
    expect(agreeOnFix('Round once.', 'code', { ...main, isDefault: true })).toBe('Round once.');
    expect(agreeOnFix('', null, main)).toBe('');
  });

  it('is a question for the owner after three failures in a row', () => {
    const own = { ...NO_HISTORY.own, times: 3 };
    const history = { own, otherPullRequests: 2, seenElsewhere: true };
    expect(judge({ history, category: 'DEPENDENCY_ERROR' })).toMatchObject({
      verdict: 'others',
      act: { what: 'ask', times: 3 },
    });
  });

  it('is not shared because of similar messages without a test in other pull requests', () => {
    const failures = [{ ...createFailure('lint'), test: null }];
    const history = { ...FIRST_HERE, otherPullRequests: 5, seenElsewhere: true };
    expect(judge({ history, category: 'CODE_ERROR', failures }).verdict).toBe('unknown');
  });

  it('on the default branch is the build with which it began, without excuse', () => {
    const isDefault = true;
    const red = judge({ history: { isDefault, defaultBranch: FAILS, seenElsewhere: true } });
    expect(red).toMatchObject({ verdict: 'main', act: { what: 'look', at: { number: '790' } } });
    expect(isExcused(red)).toBe(false);
    expect(judge({ history: { ...FIRST_HERE, isDefault } })).toMatchObject({ verdict: 'change' });
  });
});
