import { describe, expect, it } from 'vitest';
import { findDifferences, type Traits } from '../../src/lib/statistics.ts';

const builds = (count: number, traits: Traits): Traits[] => Array.from({ length: count }, () => traits);

describe('the differences between failing and passing builds', () => {
  it('are the share among failing minus the share among passing builds, largest first', () => {
    const failing = [
      ...builds(20, { branch: 'topic', hour: '3' }),
      ...builds(5, { branch: 'main', hour: '4' }),
    ];
    const passing = [
      ...builds(10, { branch: 'topic', hour: '3' }),
      ...builds(20, { branch: 'main', hour: '5' }),
      ...builds(10, { branch: 'fix', hour: '6' }),
    ];

    const found = findDifferences(failing, passing);

    expect(
      found.map(({ dimension, value, difference }) => [dimension, value, Number(difference.toFixed(3))]),
    ).toEqual([
      ['branch', 'topic', 0.55],
      ['hour', '3', 0.55],
      ['hour', '5', -0.5],
      ['branch', 'fix', -0.25],
      ['hour', '6', -0.25],
    ]);
  });

  it('are not computed for fewer than twenty builds on either side, or values known of fewer', () => {
    const branch = (name: string | null) => ({ branch: name });
    expect(findDifferences(builds(19, branch('a')), builds(50, branch('b')))).toEqual([]);
    expect(findDifferences(builds(50, branch('a')), builds(19, branch('b')))).toEqual([]);
    expect(
      findDifferences([...builds(19, branch('a')), ...builds(9, branch(null))], builds(50, branch('b'))),
    ).toEqual([]);
  });

  it('name only one of two opposite values, and nothing without a difference', () => {
    const found = findDifferences(
      [...builds(15, { rerun: 'yes' }), ...builds(10, { rerun: 'no' })],
      builds(30, { rerun: 'no' }),
    );
    expect(found.map(({ value }) => value)).toEqual(['yes']);
    expect(findDifferences(builds(30, { rerun: 'no' }), builds(30, { rerun: 'no' }))).toEqual([]);
  });
});
