import { describe, expect, it } from 'vitest';
import { readCauses } from '../../src/log/causes/read-causes.ts';

const job = (command: string, output: string) =>
  `##[group]Run ${command}\n${command}\nshell: /usr/bin/bash -e {0}\n##[endgroup]\n${output}\n`;
const LINT = job(
  'npx eslint src',
  "\n/w/src/owl.js\n  4:7  error  'owl' is never used  no-unused-vars\n\n##[error]Process completed with exit code 1.",
);
const STOPPED = job('npm run build', 'Bundling src/main.js ...\n##[error]The operation was canceled.');
const GATE = job(
  'if [ "failure" != "success" ]; then exit 1; fi',
  'lint: failure\n##[error]Process completed with exit code 1.',
);

function read(logs: Readonly<Record<string, string>>) {
  const sources = Object.entries(logs).map(([name, text]) => ({
    name,
    kind: 'log' as const,
    notes: [],
    text,
  }));
  const { reading, causes } = readCauses(sources, { budgetTokens: 4_000 });
  return { reading, said: causes.flatMap(({ failures }) => failures.map(({ message }) => message)) };
}

describe('jobs that fail only because of another failure', () => {
  it('are never the headline, and state what they are', () => {
    const { reading, said } = read({ build: STOPPED, gate: GATE, lint: LINT });
    expect(said).toEqual(["owl.js: 'owl' is never used"]);
    expect(reading.messages[0]?.text).toContain("'owl' is never used");
    expect(reading.notes).toContainEqual(
      expect.stringMatching(/of build was stopped after another failure\.$/),
    );
    expect(reading.notes).toContainEqual(
      expect.stringMatching(/of gate only reports how other jobs ended\.$/),
    );
  });

  it('are the failure if nothing else failed', () => {
    expect(read({ build: STOPPED }).said).toEqual([expect.stringContaining('The operation was canceled')]);
  });

  it('do not include jobs that exceeded their own time limit', () => {
    const late = job(
      'npm test',
      '##[error]The job running on runner r1 has exceeded the maximum execution time of 5 minutes.',
    );
    expect(read({ late, lint: LINT }).said).toHaveLength(2);
  });
});

describe('a report step that found no files', () => {
  const compile = job(
    'make',
    "owl.c:4:12: error: 'feathers' undeclared (first use in this function)\n##[error]Process completed with exit code 2.",
  );
  const report =
    '##[group]Run mikepenz/action-junit-report@v5\nwith:\n  report_paths: build/*.xml\n##[endgroup]\n##[error]No test report files were found that match build/*.xml\n';

  it('is a consequence of the step that failed before it, and described as such', () => {
    const { reading, said } = read({ job: compile + report });
    expect(said).toEqual(["owl.c: 'feathers' undeclared (first use in this function)"]);
    expect(reading.notes).toContainEqual(
      expect.stringContaining('found no files, since a step before it failed.'),
    );
  });

  it('is the failure if no step failed before it', () => {
    expect(read({ job: report }).said).toEqual([expect.stringContaining('No test report files were found')]);
  });
});
