import { describe, expect, it } from 'vitest';
import type { Analysis } from '../../src/domain/analysis.ts';
import type { Failure } from '../../src/domain/failure.ts';
import {
  arrangeAnswers,
  introduceAnswers,
  nameTests,
  pairWithFailures,
} from '../../src/notifications/build-answers.ts';
import { sampleAnalysis, sampleFailure } from '../support/sample-analysis.ts';
import { createSeveralAnswers, GROUPS, TITLES } from '../support/several-causes.ts';

function getAnswer(id: string, change: Partial<Analysis>, sample: readonly Failure[]) {
  return { analysis: sampleAnalysis({ id, ...change }), sample, failures: sample.length };
}

function createTest(
  name: string,
  change: Partial<NonNullable<Failure['test']>> = {},
  of: Partial<Failure> = {},
): Failure {
  const { test, ...failure } = sampleFailure(of);
  return { ...failure, test: test === null ? null : { ...test, name, ...change } };
}

const inLog = (source: string, line: number) => ({ at: { source, line } });
const step = sampleFailure({ test: null });

describe('the order in which to fix the causes of a build', () => {
  it.each([
    {
      what: 'what stops others goes before what only fails',
      answers: [
        getAnswer('assertion', {}, [createTest('a')]),
        getAnswer('compile', { kind: 'compile_error' }, [step]),
      ],
      order: ['compile', 'assertion'],
    },
    {
      what: 'what is missing to one test stops nobody',
      answers: [
        getAnswer('assertion', {}, [createTest('a')]),
        getAnswer('golden file', { kind: 'missing_file' }, [createTest('b')]),
      ],
      order: ['assertion', 'golden file'],
    },
    {
      what: 'a service that fails many tests goes first',
      answers: [
        getAnswer('assertion', {}, [createTest('a')]),
        getAnswer('redis', { kind: 'service_unavailable' }, [createTest('b'), createTest('c')]),
      ],
      order: ['redis', 'assertion'],
    },
    {
      what: 'steps stay in the order of the log, whatever they hit',
      answers: [
        getAnswer('lint', { kind: 'lint_failure' }, [step]),
        getAnswer('unit', {}, [createTest('a', { framework: 'vitest' })]),
        getAnswer('end to end', {}, [
          createTest('b', { framework: 'playwright' }),
          createTest('c', { framework: 'playwright' }),
        ]),
      ],
      order: ['lint', 'unit', 'end to end'],
    },
    {
      what: 'within a step what hit more goes first',
      answers: [
        getAnswer('one', {}, [createTest('a', inLog('log', 1))]),
        getAnswer('two', {}, [createTest('b', inLog('log', 2)), createTest('c', inLog('log', 3))]),
      ],
      order: ['two', 'one'],
    },
    {
      what: 'what only reports another job, or was not analyzed, goes last',
      answers: [
        getAnswer('gate', { kind: 'upstream_job' }, [step]),
        getAnswer('unread', { terminationReason: 'failed' }, [step]),
        getAnswer('assertion', {}, [createTest('a')]),
      ],
      order: ['assertion', 'gate', 'unread'],
    },
  ])('puts first what others depend on: $what', ({ answers, order }) => {
    expect(arrangeAnswers(answers).map(({ analysis }) => analysis.id)).toEqual(order);
  });
});

describe("the description of an answer's failures", () => {
  const explain = (...sample: Failure[]) => arrangeAnswers([getAnswer('a', {}, sample)])[0]?.explains;
  const frames = [{ file: 'src/tax.ts', line: 41, function: 'sum', own: true }];
  const other = { algorithm: 'faultline', version: 1, value: 'beef' };

  it.each<[string, Failure[], string | null]>([
    ['one failure', [createTest('a')], null],
    [
      'the same message',
      [createTest('a', {}, { message: 'boom 1' }), createTest('b', {}, { message: 'boom 2' })],
      '2 tests, because each says “boom 1”.',
    ],
    [
      'the same place',
      [createTest('a', {}, { message: 'boom', frames }), createTest('b', {}, { message: 'bang', frames })],
      '2 tests, because each failed at src/tax.ts:41.',
    ],
    [
      'only how they ended',
      [createTest('a', {}, { generic: true }), createTest('b', {}, { generic: true })],
      '2 tests, because each ended in the same way and says nothing more.',
    ],
    [
      'the same fingerprint',
      [
        createTest('a', {}, { message: 'boom', frames: [] }),
        createTest('b', {}, { message: 'bang', frames: [] }),
      ],
      '2 tests, because they have the same fingerprint.',
    ],
    [
      'nothing but a deeper error',
      [
        createTest('a', {}, { message: 'boom', frames: [] }),
        createTest('b', {}, { message: 'bang', frames: [], fingerprint: other }),
      ],
      '2 tests, because their errors lead back to the same one, such as “boom”.',
    ],
    ['failures without tests', [step, step], '2 failures, because each says “expected 10.20, got 10.21”.'],
  ])('names them: %s', (_what, sample, sentence) => {
    expect(explain(...sample)?.grouped).toBe(sentence);
  });

  it('distinguishes tests with the same name by their suites', () => {
    expect(
      explain(
        createTest('adds', { suite: 'cart' }),
        createTest('adds', { suite: 'bill' }),
        createTest('pays'),
      )?.tests,
    ).toEqual(['cart › adds', 'bill › adds', 'pays']);
  });

  it('names the logs only if failures are in several', () => {
    expect(explain(createTest('a', inLog('one.log', 1)))?.logs).toEqual([]);
    expect(explain(createTest('a', inLog('node 18', 1)), createTest('a', inLog('node 20', 1)))).toMatchObject(
      {
        tests: ['a'],
        logs: ['node 18', 'node 20'],
      },
    );
  });

  it('counts those that it does not name, and never counts a single one', () => {
    const tests = ['a', 'b', 'c', 'd'];
    expect(nameTests({ tests, unnamed: 0 }, 2)).toEqual({ named: ['a', 'b'], more: 2 });
    expect(nameTests({ tests, unnamed: 0 }, 3)).toEqual({ named: tests, more: 0 });
    expect(nameTests({ tests, unnamed: 96 }, 2)).toEqual({ named: ['a', 'b'], more: 98 });
    expect(nameTests({ tests: [], unnamed: 3 }, 2)).toEqual({ named: [], more: 0 });
  });
});

it('several answers are introduced with their count, and one without an introduction', () => {
  expect(introduceAnswers(createSeveralAnswers())).toBe(
    '3 causes, 15 failed tests, in the order in which to fix them',
  );
  expect(introduceAnswers(createSeveralAnswers().slice(0, 1))).toBeNull();
});

it('all failures of an answer are found, even if the answer names only the first', () => {
  const [group] = GROUPS.slice(-1);
  const analysis = sampleAnalysis({ fingerprint: group?.fingerprint.value ?? '', failureIds: ['fal_1'] });
  expect(pairWithFailures([analysis], GROUPS)).toMatchObject([{ failures: 10 }]);
  expect(pairWithFailures([sampleAnalysis()], [])).toMatchObject([{ failures: 1, sample: [] }]);
  expect(createSeveralAnswers().map(({ analysis: { answer } }) => answer.title)).toEqual(TITLES);
});
