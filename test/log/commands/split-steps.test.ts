import { describe, expect, it } from 'vitest';
import { readCauses } from '../../../src/log/causes/read-causes.ts';

/** Reads one step of GitHub Actions, and says of each cause its step, message and excerpts. */
function readStep(script: readonly string[], output: string, shell = '/usr/bin/bash -e {0}') {
  const head = [`##[group]Run ${script[0]}`, ...script, `shell: ${shell}`, '##[endgroup]'];
  const text = `${[...head, output.trimEnd(), '##[error]Process completed with exit code 1.'].join('\n')}\n`;
  const { causes } = readCauses([{ name: 'log', kind: 'log', text, notes: [] }], { budgetTokens: 2000 });
  return causes.map(({ failures, reading }) => ({
    step: reading.failedSections.map(({ name }) => name).join(),
    message: failures[0]?.message ?? '',
    tests: failures.flatMap(({ test }) => test?.name ?? []),
    text: reading.excerpts.map((excerpt) => excerpt.text).join('\n'),
  }));
}

const CLONE = `Cloning into 'vendor/units'...
fatal: unable to access 'http://units.example.test/units.git/': Failed to connect to units.example.test port 80: Connection refused
`;
const PATCH = `Checking patch src/limits.c...
error: patch failed: src/limits.c:1
error: src/limits.c: patch does not apply
`;
const TESTS = `--- FAIL: TestDiv (0.00s)
    calc_test.go:9: Div(9,3) = 3, want 4
FAIL
FAIL\texample.test/calc\t0.112s
FAIL
`;
const KEEPING = [
  'status=0',
  'bash vendor.sh || status=$?',
  'git apply --verbose patches/*.patch || status=$?',
  'exit $status',
];

describe('commands that failed in one step', () => {
  it('are separate failures if the script stores their statuses', () => {
    const [clone, patch, ...more] = readStep(KEEPING, `${CLONE}${PATCH}`);
    expect(more).toEqual([]);
    expect(clone).toMatchObject({
      step: 'Run bash vendor.sh',
      message: expect.stringContaining('Connection refused'),
    });
    expect(patch).toMatchObject({
      step: 'Run git apply --verbose patches/*.patch',
      message: expect.stringContaining('patch failed'),
    });
    expect(clone?.text).not.toContain('patch');
    expect(patch?.text).not.toContain('units.example.test');
  });

  it('are separate failures if the shell continues after a failure', () => {
    const commands = ['bash vendor.sh', 'git apply --verbose patches/*.patch'];
    expect(readStep(['set +e', ...commands], `${CLONE}${PATCH}`)).toHaveLength(2);
    expect(readStep(commands, `${CLONE}${PATCH}`, '/usr/bin/bash {0}')).toHaveLength(2);
  });

  it('are one failure if the script ends at the first', () => {
    const commands = ['bash vendor.sh', 'git apply --verbose patches/*.patch'];
    expect(readStep(commands, `${CLONE}${PATCH}`)).toHaveLength(1);
    expect(readStep(['bash vendor.sh || true', ...commands.slice(1)], `${CLONE}${PATCH}`)).toHaveLength(1);
  });

  it('are one failure if the second fails with the same message', () => {
    const script = ['bash vendor.sh || status=$?', 'bash vendor.sh --again || status=$?', 'exit $status'];
    expect(readStep(script, `${CLONE}${CLONE.replace('port 80', 'port 81')}`)).toHaveLength(1);
    expect(readStep(script, `${PATCH}${PATCH.replace('c:1', 'c:7')}`)).toHaveLength(1);
  });

  it('are separate from failing tests next to them', () => {
    const script = ['go test ./... || failed=1', 'bash vendor.sh || failed=1', 'exit $failed'];
    const causes = readStep(script, `${TESTS}${CLONE}`);
    expect(causes.map(({ tests, message }) => tests[0] ?? message.slice(0, 5))).toEqual(['TestDiv', 'fatal']);
    expect(causes[0]?.text).not.toContain('units.example.test');
  });

  it('are one failure if both have the same message', () => {
    expect(readStep(['set +e', 'bash vendor.sh', 'bash vendor.sh'], `${CLONE}${CLONE}`)).toHaveLength(1);
  });

  it('are one failure if only one command reports errors, however often', () => {
    const script = ['npx eslint src || status=1', 'npx tsc --noEmit || status=1', 'exit $status'];
    const output = `src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.
src/b.ts(9,1): error TS2304: Cannot find name 'tides'.
src/c.ts(12,7): error TS2551: Property 'lenght' does not exist on type 'string'.
`;
    expect(readStep(script, output)).toHaveLength(1);
  });
});
