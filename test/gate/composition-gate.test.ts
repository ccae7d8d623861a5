import { describe, expect, it } from 'vitest';
import type { SourceText } from '../../src/domain/build.ts';
import type { AnalysisResult } from '../../src/replay/run/results.ts';
import { type CapturedPart, cutPart, readCapturedParts } from '../support/composition/captured-parts.ts';
import { chooseJoins, type Join, KINDS } from '../support/composition/choose-joins.ts';
import { countKinds, findMissedBars } from '../support/composition/composition-gate.ts';
import { joinLogs } from '../support/composition/join-logs.ts';
import { type AnsweredLog, areTellable, isUsable, judgeJoin } from '../support/composition/judge-join.ts';

const SUM = toPart('cart', 'pytest', ['FAILED tests/test_cart.py::test_sum - assert 3 == 4', '1 failed']);
const HOST = toPart('fetch', 'curl', ['curl: (6) Could not resolve host: data.example.test']);
const PARTS = [SUM, HOST];

const SUM_ANSWER = answer(
  'TEST_FAILURE',
  'test_sum: assert 3 == 4',
  'test_sum',
  'tests/test_cart.py',
  SUM.output[0] ?? '',
);
const HOST_ANSWER = answer(
  'INFRA_ERROR',
  'Could not resolve host: data.example.test',
  null,
  'fetch.sh',
  HOST.output[0] ?? '',
);
const ALONE = new Map([
  [SUM, createAnsweredLog([SUM], [SUM_ANSWER], ['assert 3 == 4'])],
  [HOST, createAnsweredLog([HOST], [HOST_ANSWER], ['Could not resolve host: data.example.test'])],
]);

describe('the gate for several failures in one log', () => {
  it('passes if the joined log has the answers of its parts', () => {
    expect(judge([SUM_ANSWER, HOST_ANSWER])).toMatchObject({
      failures: 2,
      same: 2,
      missing: 0,
      bleeding: 0,
      misgrouped: 0,
      faults: [],
    });
  });

  it('fails if an answer uses the cause of another part', () => {
    const taken = {
      ...SUM_ANSWER,
      title: 'Could not resolve host: data.example.test',
      rootCause: 'Could not resolve host: data.example.test',
    };
    expect(judge([taken, HOST_ANSWER])).toMatchObject({
      bleeding: 1,
      faults: expect.arrayContaining([expect.stringContaining('tells of another part')]),
    });
    expect(
      judge([
        {
          ...SUM_ANSWER,
          fixRecommendation: 'Mend what "test_sum" needs, Could not resolve host: data.example.test',
        },
        HOST_ANSWER,
      ]).bleeding,
    ).toBe(1);
    expect(judge([{ ...SUM_ANSWER, suspects: HOST_ANSWER.suspects }, HOST_ANSWER])).toMatchObject({
      same: 1,
      bleeding: 0,
    });
    const other = [{ path: 'data.example.test', line: null, score: 1 }];
    expect(
      judge([{ ...SUM_ANSWER, suspects: [...SUM_ANSWER.suspects, ...other] }, HOST_ANSWER]).bleeding,
    ).toBe(1);
  });

  it('fails if category, kind, words or place differ from those of the part alone', () => {
    const others = [
      { category: 'CODE_ERROR' },
      { kind: 'crash' },
      { title: 'A test failed', rootCause: '', claims: [] },
      { suspects: [] },
      { failingTests: [] },
    ];
    for (const change of others)
      expect(judge([{ ...SUM_ANSWER, ...change }, HOST_ANSWER]).same).toBeLessThan(2);
  });

  it('fails if a part is not answered, or one answer serves both parts', () => {
    expect(judge([SUM_ANSWER])).toMatchObject({ missing: 1, same: 1 });
    expect(judge([{ ...SUM_ANSWER, claims: [...SUM_ANSWER.claims, ...HOST_ANSWER.claims] }])).toMatchObject({
      misgrouped: 1,
    });
  });

  it('fails if the same failure twice has two answers, or an answer concerns no part', () => {
    expect(judge([SUM_ANSWER], [SUM, SUM])).toMatchObject({ failures: 1, same: 1, faults: [] });
    expect(judge([SUM_ANSWER, { ...SUM_ANSWER }], [SUM, SUM]).misgrouped).toBe(1);
  });

  it('compares every figure with its bar', () => {
    const judged = [judge([SUM_ANSWER]), judge([SUM_ANSWER, HOST_ANSWER])];
    const [figures] = countKinds(judged);
    expect(figures).toEqual({
      kind: 'several steps',
      joins: 2,
      faithful: 0.5,
      same: 0.75,
      missing: 0.25,
      bleed: 0,
      misgrouped: 0,
    });
    const bar = {
      kind: 'several steps' as const,
      joins: 2,
      faithful: 0.5,
      same: 0.75,
      missing: 0.25,
      bleed: 0,
      misgrouped: 0,
    };
    expect(findMissedBars(countKinds(judged), [bar])).toEqual([]);
    const stricter = { ...bar, joins: 3, faithful: 0.6, same: 0.8, missing: 0.2, bleed: -1, misgrouped: -1 };
    expect(findMissedBars(countKinds(judged), [stricter])).toHaveLength(6);
    expect(findMissedBars([], [bar])).toEqual(['several steps: not measured']);
  });

  it('omits parts that are not answered alone, or cannot be told apart', () => {
    const alone = ALONE.get(SUM) ?? createAnsweredLog([SUM], [], []);
    // What is unknown alone is to be the same unknown beside others.
    expect(isUsable({ ...alone, answers: [{ ...SUM_ANSWER, abstained: true }] })).toBe(true);
    expect(isUsable(alone)).toBe(true);
    expect(isUsable({ ...alone, failureFound: false })).toBe(false);
    expect(
      isUsable(createAnsweredLog([SUM], [SUM_ANSWER], ['##[error]Process completed with exit code 1.'])),
    ).toBe(false);
    expect(areTellable(toJoin(PARTS), ALONE)).toBe(true);
    expect(areTellable(toJoin(PARTS), new Map([...ALONE, [HOST, alone]]))).toBe(false);
  });
});

describe('joined logs', () => {
  const parts = readCapturedParts();

  it('come from nearly every captured failure, at least 300 in the short run, always the same', () => {
    expect(parts.length).toBeGreaterThan(400);
    const joins = chooseJoins(parts, false);
    expect(joins.length).toBeGreaterThanOrEqual(300);
    expect(joins.map(({ id }) => id)).toEqual(chooseJoins(parts.toReversed(), false).map(({ id }) => id));
    expect(new Set(joins.map(({ id }) => id)).size).toBe(joins.length);
    expect(chooseJoins(parts, true).length).toBeGreaterThan(2_000);
  });

  it('contain each part at its stated lines, inside the lines of a CI system', () => {
    for (const frame of new Set(Object.values(KINDS))) {
      const { sources, spans } = joinLogs(PARTS, frame);
      const shown = spans.map(({ source, lineStart, lineEnd }) =>
        selectLines(sources, source, lineStart, lineEnd),
      );
      expect(shown).toEqual(PARTS.map(({ output }) => output));
    }
    const count = (text: string, mark: string) => text.split(mark).length - 1;
    const steps = joinLogs(PARTS, 'steps').sources[0]?.text ?? '';
    expect([count(steps, '##[group]Run '), count(steps, '##[error]Process completed')]).toEqual([3, 2]);
    const step = joinLogs(PARTS, 'step').sources[0]?.text ?? '';
    expect([count(step, '##[group]Run '), count(step, '##[error]Process completed')]).toEqual([2, 1]);
    expect(joinLogs(PARTS, 'stages').sources[0]?.text).toMatch(
      /\+ curl\n[\s\S]*\[Pipeline\] \}\nERROR: script returned exit code 1\n[\s\S]*Finished: FAILURE\n$/,
    );
    expect(joinLogs(PARTS, 'jobs').sources).toHaveLength(2);
  });

  it('are made from jobs of GitHub Actions, Jenkins and plain shells', () => {
    const github = [
      '##[group]Run make',
      '\u001b[36;1mmake\u001b[0m',
      'shell: bash',
      '##[endgroup]',
      'bad',
      '##[error]Process completed with exit code 2.',
    ];
    expect(cutPart(github.map((line) => `2026-11-23T00:04:31.0509064Z ${line}`).join('\n'))).toEqual({
      commands: ['make'],
      output: ['bad'],
    });
    const jenkins = [
      '[x] $ /bin/sh -xe /tmp/j.sh',
      '+ make',
      'bad',
      "Build step 'Execute shell' marked build as failure",
      'Finished: FAILURE',
    ];
    expect(cutPart(jenkins.join('\n'))).toEqual({ commands: ['make'], output: ['bad'] });
    expect(cutPart('$ make\nbad\n')).toEqual({ commands: ['make'], output: ['bad'] });
  });
});

function toPart(id: string, runner: string, output: readonly string[]): CapturedPart {
  return { id, set: 'tools', runner, commands: [runner], output, exitCode: 1 };
}

function toJoin(parts: readonly CapturedPart[]): Join {
  return { id: parts.map(({ id }) => id).join(' + '), kind: 'several steps', frame: 'steps', parts };
}

/** Judges these answers to a joined log, whose quotations are moved to where their lines are in it. */
function judge(answers: readonly AnalysisResult[], parts: readonly CapturedPart[] = PARTS) {
  const { spans } = joinLogs(parts, 'steps');
  const moved = new Map(answers.map((other) => [other, moveQuotes(other)]));
  const joined = answers.map((other) => moved.get(other) ?? other);
  return judgeJoin(toJoin(parts), spans, ALONE, {
    failureFound: true,
    answers: joined,
    failures: [],
    text: '',
  });

  function moveQuotes(one: AnalysisResult): AnalysisResult {
    const claims = one.claims.map(({ text, quotes }) => ({
      text,
      quotes: quotes.map((quote) => ({
        ...quote,
        line: spans.find(({ part }) => part.output[0] === quote.text)?.lineStart ?? 1,
      })),
    }));
    return { ...one, claims };
  }
}

function createAnsweredLog(
  parts: readonly CapturedPart[],
  answers: readonly AnalysisResult[],
  messages: readonly string[],
): AnsweredLog {
  const failures = answers.map(({ failingTests }, at) => [
    {
      test: failingTests[0]?.name ?? null,
      suite: failingTests[0]?.suite ?? null,
      message: messages[at] ?? '',
    },
  ]);
  return {
    failureFound: true,
    answers,
    failures,
    text: joinLogs(parts, 'step')
      .sources.map(({ text }) => text)
      .join('\n'),
  };
}

function answer(
  category: string,
  title: string,
  test: string | null,
  path: string,
  quoted: string,
): AnalysisResult {
  return {
    category,
    kind: 'assertion',
    probabilities: {},
    confidence: 0.9,
    abstained: false,
    title,
    rootCause: title,
    fixRecommendation: '',
    claims: [{ text: '', quotes: [{ source: 'log.txt', line: 1, text: quoted }] }],
    failingTests: test === null ? [] : [{ name: test, suite: null, file: path, line: 3 }],
    suspects: [{ path, line: 3, score: 0.5 }],
    fingerprint: null,
    action: 'auto_notify',
    analyst: 'rules',
    answerConfidence: 0.9,
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
  };
}

function selectLines(sources: readonly SourceText[], name: string, from: number, to: number): string[] {
  const lines =
    sources
      .find((source) => source.name === name)
      ?.text.split('\n')
      .slice(from - 1, to) ?? [];
  return lines.map((line) => line.replace(/^\d{4}-\S+Z /, ''));
}
