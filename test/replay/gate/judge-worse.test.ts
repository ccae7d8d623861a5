import { describe, expect, it } from 'vitest';
import { judgeGate } from '../../../src/replay/gate.ts';
import { createAnswered, createGate, createResult, createRun } from './gated.ts';

const IDS = Array.from({ length: 40 }, (_, at) => `c${at}`);
const FIGURE = 'category accuracy';

describe('a bar against the baseline', () => {
  it.each([
    ['as before', 0, { worseBy: 0 }, 'ok'],
    ['worse by what is allowed', 4, { worseBy: 0.1, noise: 'none' }, 'ok'],
    ['worse by more, for an analyst that never wavers', 4, { worseBy: 0.09, noise: 'none' }, 'failed'],
    ['worse by a few, which may be chance', 4, { worseBy: 0 }, 'within-noise'],
    ['worse beyond noise', 20, { worseBy: 0 }, 'failed'],
    ['worse beyond noise, but not by more than allowed beyond noise', 20, { worseBy: 0.45 }, 'within-noise'],
    ['better', -4, { worseBy: 0 }, 'ok'],
  ] as const)('%s', async (_name, worse, bar, status) => {
    const { outcomes } = await judge(worse, { figure: FIGURE, ...bar });
    expect(outcomes.map((outcome) => outcome.status)).toEqual([status]);
  });

  it('states how much worse the value is, and names the lost cases', async () => {
    const { outcomes } = await judge(20, { figure: FIGURE, worseBy: 0.05 });
    expect(outcomes[0]?.sentence).toMatch(
      /^set\.jsonl: category accuracy is 0\.400, was 0\.900: worse by 0\.500 \(95 %: 0\.\d{3} to 0\.\d{3}\); more than 0\.05\.$/,
    );
    expect(outcomes[0]?.against).toHaveLength(20);
  });

  it('fails if a case is not in the baseline, the figure cannot be compared, or no case is common', async () => {
    const few = createGate([{ figure: FIGURE, worseBy: 0 }], { baseline: createBaseline(IDS.slice(0, 39)) });
    expect(await judgeGate(few, [createRun([{}], { cases: selectCases(0) })])).toMatchObject({
      ok: false,
      outcomes: [
        {
          sentence: 'set.jsonl: the baseline lacks 1 of the cases, for example c39: recreate it with --out.',
        },
      ],
    });
    const odd = await judge(0, { figure: 'category acuracy', worseBy: 0 });
    expect(odd.outcomes[0]?.sentence).toContain('did you mean "category accuracy"?');
    const strange = createGate([{ figure: FIGURE, worseBy: 0 }], { baseline: createBaseline(['x']) });
    expect(
      (await judgeGate(strange, [createRun([{}], { cases: selectCases(0) })])).outcomes[0]?.sentence,
    ).toContain('No case is on both sides');
  });

  it('a figure without a worse direction requires a number', async () => {
    expect((await judge(0, { figure: 'abstained', worseBy: 0 })).outcomes[0]?.sentence).toContain(
      'neither direction is worse for "abstained"',
    );
  });
});

/** Four of forty are wrong in the baseline; so many more, or fewer, now. */
function judge(worse: number, bar: object) {
  return judgeGate(createGate([bar], { baseline: createBaseline(IDS) }), [
    createRun([{}], { cases: selectCases(worse) }),
  ]);
}

function createBaseline(ids: readonly string[]) {
  return {
    path: 'baseline.jsonl',
    results: new Map(ids.map((id, at) => [id, createResult(id, at < 4 ? 'INFRA_ERROR' : 'CODE_ERROR')])),
  };
}

function selectCases(worse: number) {
  return IDS.map((id, at) => createAnswered(id, at < 4 + worse ? 'INFRA_ERROR' : 'CODE_ERROR'));
}
