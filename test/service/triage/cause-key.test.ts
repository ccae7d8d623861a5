import { describe, expect, it } from 'vitest';
import type { ThrownException } from '../../../src/domain/failure.ts';
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

const sizes = (groups: ReturnType<typeof createGroups>) =>
  groups.map(({ generic, failures }) => [generic, failures.length]);

function createThrown(line: number, change: Partial<ThrownException> = {}): ThrownException {
  return {
    type: 'java.net.BindException',
    message: 'Address already in use',
    chain: [
      'IllegalStateException: no context',
      'BeanCreationException: no server',
      'java.net.BindException: Address already in use',
    ],
    frames: [{ file: 'Net.java', line: 461, function: 'bind', own: false }],
    at: { source: 'build.log', line },
    ...change,
  };
}

/** Forty tests, each with words of its own, ten lines apart, each followed by an exception. */
function createWrapped(change: (index: number) => Partial<ThrownException> = () => ({})) {
  const indexes = Array.from({ length: 40 }, (_, index) => index);
  const word = (index: number) => String.fromCharCode(97 + (index % 26), 97 + Math.floor(index / 26));
  return sampleReading({
    failingTests: indexes.map((index) =>
      createFailingTest(
        `test_${index}`,
        `no context for the ${word(index)}${word(index)} page`,
        index * 40 + 1,
      ),
    ),
    exceptions: indexes.map((index) => createThrown(index * 40 + 3, change(index))),
  });
}

describe('the causes of a build', () => {
  it('are one if one deepest exception is behind forty tests with different messages', () => {
    expect(sizes(createGroups(createWrapped(), 'bld_1'))).toEqual([[false, 40]]);
  });

  it('are two if the deepest exception was thrown at two places', () => {
    const other = { frames: [{ file: 'Disk.java', line: 9, function: 'open', own: false }] };
    expect(
      sizes(
        createGroups(
          createWrapped((index) => (index % 2 === 0 ? {} : other)),
          'bld_1',
        ),
      ),
    ).toEqual([
      [false, 20],
      [false, 20],
    ]);
  });

  it('are separate if each test has an expectation of its own, or the exception has no cause', () => {
    const assertion = { type: 'org.opentest4j.AssertionFailedError', message: 'expected true' };
    expect(
      createGroups(
        createWrapped(() => assertion),
        'bld_1',
      ),
    ).toHaveLength(40);
    expect(
      createGroups(
        createWrapped(() => ({ chain: ['java.net.BindException: Address already in use'] })),
        'bld_1',
      ),
    ).toHaveLength(40);
  });

  it('are one if the machine refused all tests in the same way, each at a line of its own', () => {
    const tests = ['a', 'b', 'c'].map((name, index) => ({
      ...createFailingTest(`test_${name}`, 'Error: connect ECONNREFUSED 127.0.0.1:5432', index * 10 + 1),
      file: `test_${name}.py`,
    }));
    expect(sizes(createGroups(sampleReading({ failingTests: tests }), 'bld_1'))).toEqual([[false, 3]]);
  });

  it('are separated by how tests without a message ended, and none is recalled', () => {
    const said = [
      'timed out',
      'crashed with exit code 139',
      'timed out',
      'exit code 1',
      'expected 1 item, got none',
    ];
    const tests = said.map((message, index) => createFailingTest(`test_${index}`, message, index * 10 + 1));
    expect(sizes(createGroups(sampleReading({ failingTests: tests }), 'bld_1'))).toEqual([
      [true, 2],
      [true, 1],
      [true, 1],
      [false, 1],
    ]);
  });
});
