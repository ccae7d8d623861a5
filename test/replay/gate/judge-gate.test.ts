import { describe, expect, it } from 'vitest';
import { judgeGate } from '../../../src/replay/gate.ts';
import { renderGate, toJunit } from '../../../src/replay/gate-report.ts';
import { renderJunit } from '../../../src/replay/report.ts';
import { createReplayedCase } from '../../../src/replay/run/replay.ts';
import { toFailedResult } from '../../../src/replay/run/results.ts';
import { createAnswered, createGate, createRun } from './gated.ts';

const FIGURE = 'category accuracy';

describe('a bar', () => {
  it.each([
    ['held', { atLeast: 0.9 }, { value: 0.9 }, 'ok'],
    ['held from below', { atMost: 0.02 }, { value: 0.02 }, 'ok'],
    ['missed, the whole interval below', { atLeast: 0.9 }, { value: 0.8, interval: [0.7, 0.89] }, 'failed'],
    ['missed, within noise', { atLeast: 0.9 }, { value: 0.8, interval: [0.7, 0.9] }, 'within-noise'],
    ['missed, the whole interval above', { atMost: 0.02 }, { value: 0.1, interval: [0.03, 0.2] }, 'failed'],
    ['missed above, within noise', { atMost: 0.02 }, { value: 0.1, interval: [0.01, 0.2] }, 'within-noise'],
    ['held, and the interval does not matter', { atLeast: 0.9 }, { value: 0.95, interval: [0.5, 1] }, 'ok'],
    [
      'without noise, missed by a hair',
      { atLeast: 0.9, noise: 'none' },
      { value: 0.899, interval: [0.7, 1] },
      'failed',
    ],
    ['of a figure without interval, missed', { atLeast: 0.9 }, { value: 0.899 }, 'failed'],
    [
      'of a sum whose last digit differs',
      { atLeast: 0.3, noise: 'none' },
      { value: 0.1 + 0.2 - 1e-15 },
      'ok',
    ],
  ] as const)('is %s', async (_name, bar, figure, status) => {
    const { ok, outcomes } = await judgeGate(createGate([{ figure: FIGURE, ...bar }]), [createRun([figure])]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual([status]);
    expect(ok).toBe(status !== 'failed');
  });

  it('states the value, the bar, the reason, and which cases to look at', async () => {
    const bars = [{ figure: FIGURE, atLeast: 0.9, why: 'People stop reading.' }];
    const gate = await judgeGate(createGate(bars), [
      createRun([{ value: 0.8, interval: [0.7, 0.85], against: ['x/1', 'x/2'] }]),
    ]);
    expect(gate.outcomes[0]?.sentence).toBe(
      'set.jsonl: category accuracy is 0.800 (0.70–0.85), n=50: below its bar of 0.9.',
    );
    expect(renderGate(gate)).toBe(
      [
        'gate bars.json: FAILED, 0 of 1 bars held',
        '  FAILED  set.jsonl: category accuracy is 0.800 (0.70–0.85), n=50: below its bar of 0.9.',
        '          Why: People stop reading.',
        '          Look at: x/1, x/2',
      ].join('\n'),
    );
  });

  it('applies to every data set, or to the one that it names', async () => {
    const bars = [
      { figure: FIGURE, atLeast: 0.9 },
      { figure: FIGURE, atLeast: 0.99, dataset: 'hard.jsonl' },
    ];
    const { outcomes } = await judgeGate(createGate(bars), [
      createRun([{ value: 0.95 }]),
      createRun([{ value: 0.95 }], { name: 'hard.jsonl', label: 'hard.jsonl, repeat 2 of 3' }),
    ]);
    expect(outcomes.map(({ dataset, bar, status }) => [dataset, bar, status])).toEqual([
      ['set.jsonl', 'at least 0.9', 'ok'],
      ['hard.jsonl, repeat 2 of 3', 'at least 0.9', 'ok'],
      ['hard.jsonl, repeat 2 of 3', 'at least 0.99', 'failed'],
    ]);
  });
});

describe('a bar that cannot be judged fails', () => {
  const bar = { figure: FIGURE, atLeast: 0.5 };

  it.each([
    [
      'a misspelt figure',
      [{ ...bar, figure: 'category acuracy' }],
      createRun([{}]),
      'there is no figure "category acuracy"; did you mean "category accuracy"?',
    ],
    [
      'a figure of nowhere',
      [{ ...bar, figure: 'beauty' }],
      createRun([{}]),
      'there is no figure "beauty"; see the table for available figures',
    ],
    [
      'a misspelt section',
      [{ ...bar, section: 'categori' }],
      createRun([{}]),
      'there is no section "categori"; did you mean "category"?',
    ],
    ['a figure that stands twice', [bar], createRun([{}, {}]), 'is in several sections; choose one'],
    [
      'what a model judged',
      [bar],
      createRun([{ judged: true }]),
      "is a model's opinion; a gate can only use measured figures.",
    ],
    ['a figure of no case', [bar], createRun([{ cases: 0 }]), 'is based on no cases'],
    ['a value that is none', [bar], createRun([{ value: Number.NaN }]), 'has no value'],
    [
      'an empty data set',
      [bar],
      createRun([{}], { cases: [] }),
      'set.jsonl has no cases: nothing was measured.',
    ],
    [
      'a data set without labels',
      [bar],
      createRun([{}], { cases: [createAnswered('a', 'CODE_ERROR', {})] }),
      'set.jsonl has no labels',
    ],
    [
      'a data set with rows that cannot be read',
      [bar],
      createRun([{}], {
        cases: [
          createAnswered('a', 'CODE_ERROR'),
          createReplayedCase(null, toFailedResult('line-2', 'no JSON', 0)),
        ],
      }),
      'set.jsonl has 1 row that cannot be read, for example line-2: its result is unknown.',
    ],
    ['half a replay', [bar], createRun([{}], { isAll: false }), 'was not fully replayed'],
    [
      'a data set that was not replayed',
      [bar, { ...bar, dataset: 'sets.jsonl' }],
      createRun([{}]),
      'sets.jsonl was not replayed, so category accuracy could not be checked; did you mean set.jsonl?',
    ],
    [
      'a data set without a bar',
      [{ ...bar, dataset: 'set.jsonl' }],
      createRun([{}], { name: 'new.jsonl', label: 'new.jsonl' }),
      'No bar covers new.jsonl',
    ],
    ['a baseline that is none', [{ figure: FIGURE, worseBy: 0.1 }], createRun([{}]), 'no baseline is named'],
  ])('%s', async (_name, bars, run, sentence) => {
    const gate = await judgeGate(createGate(bars), [run]);
    expect(gate.ok).toBe(false);
    expect(
      gate.outcomes
        .filter(({ status }) => status === 'failed')
        .map((outcome) => outcome.sentence)
        .join('\n'),
    ).toContain(sentence);
  });

  it('if nothing was replayed', async () => {
    expect(await judgeGate(createGate([bar]), [])).toMatchObject({
      ok: false,
      outcomes: [{ status: 'failed' }],
    });
  });
});

it('a CI server sees one suite per data set and one test per bar', async () => {
  const bars = [
    { figure: FIGURE, atLeast: 0.9 },
    { figure: 'kind accuracy', atLeast: 0.9 },
    { figure: 'misses', atMost: 0.1, why: 'a < b' },
  ];
  const figures = [
    { value: 0.8 },
    { name: 'kind accuracy', value: 0.89, interval: [0.8, 0.95] as const },
    { name: 'misses', value: 0 },
  ];
  const xml = renderJunit(toJunit(await judgeGate(createGate(bars), [createRun(figures)])));
  expect(xml).toContain('<testsuite name="gate: set.jsonl" tests="3" failures="1" errors="0"');
  expect(xml).toContain(
    'name="category accuracy at least 0.9" time="0.000"><failure message="set.jsonl: category accuracy is 0.800, n=50: below',
  );
  expect(xml).toMatch(/name="kind accuracy at least 0\.9" time="0\.000"><system-out>[^<]*within noise/);
  expect(xml).toContain('name="misses at most 0.1" time="0.000"/>');
});
