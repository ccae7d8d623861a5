import { describe, expect, it } from 'vitest';
import type { Reading } from '../../../src/domain/reading.ts';
import { groupCauses } from '../../../src/log/causes/read-causes.ts';
import { listFailures } from '../../../src/log/fingerprint/failures.ts';
import { groupFailures } from '../../../src/service/triage/group-failures.ts';
import { createFailingTest, sampleReading } from '../../support/reading.ts';

const createGroups = (reading: Reading, buildId: string) =>
  groupFailures(
    { reading, causes: groupCauses(listFailures(reading), reading).map((cause) => ({ ...cause, reading })) },
    buildId,
  );

const reading = (tests: readonly [string, string][]) =>
  sampleReading({
    failingTests: tests.map(([name, message], index) => createFailingTest(name, message, index * 10 + 1)),
  });

describe('groups of failures', () => {
  it('join tests that fail with the same message at the same place', () => {
    const groups = createGroups(
      reading([
        ['test_a', 'ConnectionError: db on port 5432'],
        ['test_b', 'ConnectionError: db on port 6543'],
        ['test_c', 'expected 1, got 2'],
      ]),
      'bld_1',
    );

    expect(groups.map((group) => group.failures.map((failure) => failure.test?.name))).toEqual([
      ['test_a', 'test_b'],
      ['test_c'],
    ]);
  });

  it('join fifty tests that fail at one place, and keep two other causes apart', () => {
    const many: [string, string][] = Array.from({ length: 50 }, (_, index) => [
      `test_${index}`,
      `connect ECONNREFUSED 127.0.0.1:${5000 + index}`,
    ]);
    const groups = createGroups(
      reading([
        ...many,
        ['test_rate', 'GET /rates answered status 502'],
        ['test_fee', 'GET /rates answered status 404'],
      ]),
      'bld_1',
    );

    expect(groups.map((group) => group.failures.length)).toEqual([50, 1, 1]);
  });

  it('contain one failure for a build without failing tests', () => {
    const groups = createGroups(
      sampleReading({ messages: [{ text: 'npm error code ERESOLVE', at: null, weight: 1 }] }),
      'bld_1',
    );

    expect(groups).toHaveLength(1);
    expect(groups[0]?.failures[0]).toMatchObject({
      buildId: 'bld_1',
      test: null,
      message: 'npm error code ERESOLVE',
    });
  });

  it('contain one generic failure for a build without any information', () => {
    expect(createGroups(sampleReading(), 'bld_1')).toMatchObject([{ generic: true }]);
  });

  it('never treat two builds without any information as the same failure', () => {
    const computePrint = (buildId: string) => createGroups(sampleReading(), buildId)[0]?.fingerprint.value;
    expect(computePrint('bld_1')).toBe('unknown-bld_1');
    expect(computePrint('bld_2')).not.toBe(computePrint('bld_1'));
  });

  it('keep every cause apart, however many there are', () => {
    const words = Array.from(
      { length: 60 },
      (_, index) =>
        `${String.fromCharCode(97 + (index % 26))}${String.fromCharCode(97 + Math.floor(index / 26))}`,
    );
    const groups = createGroups(
      reading(words.map((word) => [`test_${word}`, `expected ${word}${word} to be there`])),
      'bld_1',
    );

    expect(groups).toHaveLength(60);
    expect(groups.flatMap((group) => group.failures)).toHaveLength(60);
  });
});
