import { describe, expect, it } from 'vitest';
import {
  type Advise,
  type AdvisedLog,
  countAbsentValues,
  countGeneric,
  countMisleading,
  deleteNeighbors,
} from '../support/advice/advice-gates.ts';
import { MISLEADING_KINDS } from '../support/advice/misleading-kinds.ts';

/** Each gate of advice, with advice that breaks just the rule that it is there for. */
const LOG: AdvisedLog = {
  name: 'plots',
  text: [
    'sow 2.1',
    'reading plots.sw',
    'sow: plots.sw:12: column is declared twice',
    '  hint: remove one',
    'exit 1',
  ].join('\n'),
  telling: [[3, 3]],
};
const say =
  (...advice: (string | null)[]): Advise =>
  async () =>
    advice;
const brokenNames = async (advise: Advise) =>
  (await countAbsentValues(advise, [LOG])).filter(({ broken }) => broken.length > 0).map(({ name }) => name);

describe('the gate for named values', () => {
  it.each([
    ['Remove one of the columns at plots.sw:12.', []],
    [null, []],
    ['No fix found.', []],
    ['Correct beds.toml.', ['absent path']],
    ['Upgrade to version 3.4.', ['absent version']],
    ['Set SOW_STRICT and run cargo fmt.', ['absent variable', 'absent command']],
    ['Install libplot-dev from depot.example.org.', ['absent package', 'absent host']],
    ['Remove 14 columns.', ['absent number']],
  ])('%s', async (advice, broken) => expect(await brokenNames(say(advice))).toEqual(broken));
});

describe('the gate for misleading kinds', () => {
  it('has 20 kinds in each of six groups, each with its own name and a rule', () => {
    const groups = Map.groupBy(MISLEADING_KINDS, ({ group }) => group);
    expect([...groups].map(([group, kinds]) => [group, kinds.length])).toEqual(
      ['wrong file', 'other family', 'noise', 'scrap', 'impossible', 'false modesty'].map((group) => [
        group,
        20,
      ]),
    );
    expect(new Set(MISLEADING_KINDS.map(({ name }) => name)).size).toBe(120);
    expect(
      MISLEADING_KINDS.filter(({ forbidden, needed }) => forbidden.length + needed.length === 0),
    ).toEqual([]);
  });

  it('counts a kind whose advice contains a forbidden word, or lacks all required ones', async () => {
    const kind = { group: 'scrap', name: 'timing', log: '', forbidden: ['check time'], needed: [] };
    const modest = { group: 'modesty', name: 'near', log: '', forbidden: [], needed: ['3.8.2', '3.8'] };
    const countAdvice = async (advise: Advise) =>
      (await countMisleading(advise, [kind, modest])).map(({ broken }) => broken.length);
    expect(await countAdvice(say('The log says: “Check time 2 s”.'))).toEqual([1, 1]);
    expect(await countAdvice(say('Use rope 3.8.2.'))).toEqual([0, 0]);
    expect(await countAdvice(say('No fix found. The step stopped with: Check time 2 s'))).toEqual([0, 1]);
  });
});

describe('the gate for failures without a message', () => {
  it('deletes the lines around the trigger', () =>
    expect(deleteNeighbors(LOG)).toBe('sow: plots.sw:12: column is declared twice'));

  it.each([
    ['Remove the column at plots.sw:12.', 0],
    ['No fix found. The step stopped with: column is declared twice', 0],
    ['Correct the named file as the tool says.', 1],
  ])('%s', async (advice, broken) =>
    expect((await countGeneric(say(advice), [LOG])).broken).toHaveLength(broken),
  );
});
