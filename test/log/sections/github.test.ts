import { describe, expect, it } from 'vitest';
import { readSections, readStructure } from './read-sections.ts';

const head = (name: string) => [
  `##[group]Run ${name}`,
  `\u001b[36;1m${name}\u001b[0m`,
  'shell: /usr/bin/bash -e {0}',
  '##[endgroup]',
];
const FAILED = '##[error]Process completed with exit code 1.';

describe('GitHub Actions', () => {
  it('names a step by its heading, and the open group of its output', () => {
    const lines = [...head('npm ci'), 'fine', ...head('npm test'), '##[group]Run unit tests', 'bad', FAILED];
    expect(readSections(lines)).toEqual([
      {
        source: 'log.txt',
        name: 'Run npm test / Run unit tests',
        lineStart: 6,
        lineEnd: 12,
        failed: true,
        exitCode: 1,
      },
    ]);
  });

  it('does not treat the groups of a script as steps', () => {
    const lines = [...head('make check'), '##[group]Run the linter', 'fine', '##[endgroup]', 'bad', FAILED];
    expect(readSections(lines)).toMatchObject([{ name: 'Run make check', lineStart: 1 }]);
  });

  it('marks steps that fail after the failure, because something was not built', () => {
    const lines = [
      ...head('npm test'),
      'bad',
      FAILED,
      ...head('./upload artifacts.sh'),
      'no files were found',
      FAILED,
    ];
    expect(readSections(lines).map(({ name, consequence }) => [name, consequence])).toEqual([
      ['Run npm test', undefined],
      ['Run ./upload artifacts.sh', true],
    ]);
  });

  it('names a failed action by its error, unless a script failed later', () => {
    const action = [
      '##[group]Run actions/setup-node@v4',
      'with:',
      '##[endgroup]',
      '##[error]Unable to find Node version 99',
    ];
    expect(readSections([...action, 'Post job cleanup.'])).toMatchObject([
      { name: 'Run actions/setup-node@v4', lineStart: 1, lineEnd: 4 },
    ]);
    expect(readSections([...action, ...head('npm test'), FAILED])).toMatchObject([{ name: 'Run npm test' }]);
  });

  it('reads job and step from the names of files in an archive', () => {
    const lines = [...head('npm test'), 'bad', FAILED];
    expect(readSections(lines, 'build (18)/3_Unit tests.txt')).toMatchObject([
      { name: 'build (18) / Unit tests', lineStart: 1, lineEnd: 6 },
    ]);
    expect(readSections(lines, '0_build.txt')).toMatchObject([{ name: 'build / Run npm test' }]);
  });

  it('reads job and step from the columns of a download', () => {
    const column = (job: string, step: string) => (text: string) =>
      `${job}\t${step}\t2024-01-01T00:00:00.0000000Z ${text}`;
    const lines = [
      ...[...head('npm ci'), 'fine'].map(column('test (18)', 'Install')),
      ...[...head('npm test'), 'bad', FAILED].map(column('test (18)', 'Unit tests')),
      ...['Post job cleanup.'].map(column('test (18)', 'Post Run actions/checkout@v4')),
    ];
    expect(readSections(lines)).toMatchObject([
      { name: 'test (18) / Unit tests', lineStart: 6, lineEnd: 11 },
    ]);
  });

  it('reads text copied from the page', () => {
    expect(readSections(['Run npm test', 'bad', 'Error: Process completed with exit code 2.'])).toMatchObject(
      [{ name: 'Run npm test', lineStart: 1, lineEnd: 3, exitCode: 2 }],
    );
  });

  it('blames the step that was stopped', () => {
    expect(
      readSections([...head('npm test'), 'waiting', '##[error]The operation was canceled.']),
    ).toMatchObject([{ name: 'Run npm test' }]);
  });
});

describe('the steps of GitHub Actions', () => {
  it('have an echoed heading each, and output after the last one that failed', () => {
    const { echoes, afterwards } = readStructure([
      ...head('npm ci'),
      'fine',
      ...head('npm test'),
      'bad',
      FAILED,
      'Post job cleanup.',
      'bye',
    ]);
    expect(echoes).toEqual([
      { start: 1, end: 4 },
      { start: 6, end: 9 },
    ]);
    expect(afterwards).toEqual([{ start: 12, end: 13 }]);
  });

  it('have headings in the form of Gitea too', () => {
    const gitea = head('npm test').map((line) => line.replace('##[', '::').replace(/^(::\w+)\]/, '$1::'));
    expect(gitea[0]).toBe('::group::Run npm test');
    expect(readStructure([...gitea, 'bad', FAILED])).toMatchObject({
      failedSections: [{ name: 'Run npm test', lineEnd: 6 }],
      echoes: [{ start: 1, end: 4 }],
    });
  });

  it('of one action are named below it if it has no output itself', () => {
    const action = ['##[group]Run pear/check@v2', 'with:', '  strict: true', '##[endgroup]'];
    expect(readSections([...action, ...head('./check.sh'), 'bad', FAILED])).toMatchObject([
      { name: 'Run pear/check@v2 / Run ./check.sh', lineStart: 5 },
    ]);
  });
});

describe('the step that failed a job', () => {
  const names = (lines: readonly string[]) =>
    readSections(lines).map(({ name, consequence }) => (consequence === true ? `(${name})` : name));
  const failing = (name: string) => [...head(name), 'bad', FAILED];
  const passing = (name: string) => [...head(name), 'fine'];
  const action = (name: string) => [`##[group]Run ${name}`, 'with:', '##[endgroup]'];
  const inJob = (job: string, ...lines: readonly string[]) => {
    let step = 'Set up job';
    return lines.map((line) => {
      step = /##\[group\]Run (.+)/.exec(line)?.[1] ?? step;
      return `${job}\t${step}\t2024-01-01T00:00:00.0000000Z ${line}`;
    });
  };

  it.each<[string, readonly string[], readonly string[]]>([
    [
      'is not one that may fail',
      [...failing('npm audit'), ...passing('npm run build'), ...failing('npm test')],
      ['Run npm test', '(Run npm audit)'],
    ],
    [
      'is the only one that failed, whatever ran after it',
      [...failing('npm test'), ...passing('npm run build')],
      ['Run npm test'],
    ],
    [
      'may be one of two in a row',
      [...failing('npm run lint'), ...failing('npm test')],
      ['Run npm run lint', 'Run npm test'],
    ],
    [
      'is followed by clean-ups',
      [
        ...failing('npm test'),
        ...passing('docker compose down'),
        ...action('actions/upload-artifact@v4'),
        '##[error]No files were found',
      ],
      ['Run npm test', '(Run actions/upload-artifact@v4)'],
    ],
    [
      'is the one that was stopped, not what runs always',
      [...head('npm test'), '##[error]The operation was canceled.', ...failing('./fix-permissions.sh')],
      ['Run npm test', '(Run ./fix-permissions.sh)'],
    ],
    [
      'is an action that gave up after its last try',
      [
        ...action('nick-fields/retry@v3'),
        'bad',
        '##[warning]Attempt 1 failed. Reason: Child_process exited with error code 1',
        'bad',
        '##[error]Final attempt failed. Child_process exited with error code 1',
        'Post job cleanup.',
      ],
      ['Run nick-fields/retry@v3'],
    ],
    [
      'is not an action that only reports',
      [...action('pear/annotate@v1'), '##[error]src/a.ts: unused', ...failing('npm test')],
      ['Run npm test'],
    ],
    [
      'is one for each job',
      [...inJob('test (18)', ...failing('npm test')), ...inJob('lint', ...failing('npm run lint'))],
      ['test (18) / npm test', 'lint / npm run lint'],
    ],
    [
      'is not one that was cancelled for another job, nor one that only looks at others',
      [
        ...inJob('test (18)', ...head('npm test'), '##[error]The operation was canceled.'),
        ...inJob('test (20)', ...failing('npm test')),
        ...inJob('All checks passed', ...failing('if [ "failure" != "success" ]; then exit 1; fi')),
      ],
      [
        'test (20) / npm test',
        '(test (18) / npm test)',
        '(All checks passed / if [ "failure" != "success" ]; then exit 1; fi)',
      ],
    ],
    [
      'is the gate, where nothing else is known',
      inJob('All checks passed', ...failing('exit 1')),
      ['All checks passed / exit 1'],
    ],
  ])('is found: %s', (_, lines, expected) => {
    expect(names(lines)).toEqual(expected);
  });

  it('ends only its own job', () => {
    const passed = inJob('lint', ...passing('npm run lint'));
    const failed = inJob('test', ...failing('npm test'), 'Post job cleanup.');
    const { afterwards } = readStructure([
      ...failed,
      ...passed,
      ...inJob('e2e', ...failing('npm run e2e'), 'late'),
    ]);
    expect(afterwards).toEqual([
      { start: 7, end: 7 },
      { start: 19, end: 19 },
    ]);
  });

  it('is found in the logs of several jobs in sequence', () => {
    const job = (name: string, ...lines: readonly string[]) => [
      "Current runner version: '2.330.0'",
      `Complete job name: ${name}`,
      ...lines,
    ];
    const lines = [
      ...job('lint', ...passing('npm run lint')),
      ...job('test', ...failing('npm test')),
      ...job('e2e', ...failing('npm run e2e')),
    ];
    expect(readSections(lines).map(({ name }) => name)).toEqual([
      'test / Run npm test',
      'e2e / Run npm run e2e',
    ]);
  });

  it('is found in them even if their beginnings are missing', () => {
    const lines = [
      ...failing('npm test'),
      'Post job cleanup.',
      ...passing('npm ci'),
      ...failing('npm run e2e'),
      'Post job cleanup.',
    ];
    expect(names(lines)).toEqual(['Run npm test', 'Run npm run e2e']);
  });

  it('is not one that the log only quotes', () => {
    const quoted = [...failing('make old'), 'Post job cleanup.'].map(
      (line) => `2024-01-01T00:00:00Z old\tstep\t2023-01-01T00:00:00.0Z ${line}`,
    );
    expect(names([...head('gh run view --log'), ...quoted, ...failing('npm test')])).toEqual([
      'Run npm test',
    ]);
  });
});

describe('an echo', () => {
  it('is an instruction of a Dockerfile, before it runs and where one failed', () => {
    const lines = [
      '#12 [4/7] RUN npm ci',
      '#12 0.345 npm error code ERESOLVE',
      ' > [4/7] RUN npm ci:',
      '0.345 npm error code ERESOLVE',
      'Dockerfile:5',
      '--------------------',
      '   4 |     COPY package.json .',
      '   5 | >>> RUN npm ci',
      '   6 |     COPY . .',
      '--------------------',
      'ERROR: failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1',
    ];
    expect(readStructure(lines).echoes).toEqual([
      { start: 1, end: 1 },
      { start: 3, end: 3 },
      { start: 5, end: 10 },
    ]);
    expect(readStructure(['Step 3/9 : RUN npm ci', 'bad']).echoes).toEqual([{ start: 1, end: 1 }]);
  });

  it('is a sentence around a log in fences, but not around a snippet that a build prints', () => {
    const log = [...head('npm test'), 'bad', FAILED];
    expect(readStructure(['It fails:', '', '```text', ...log, '```', 'Since noon.']).echoes).toEqual([
      { start: 1, end: 3 },
      { start: 4, end: 7 },
      { start: 10, end: 11 },
    ]);
    const snippet = ['```', 'a', '```'];
    expect(readStructure([...log, ...snippet, ...log]).echoes).toHaveLength(2);
  });

  it('is the heading of a step that was copied from the page', () => {
    const lines = [
      'Run npm ci',
      'fine',
      'Run npm test',
      'npm test',
      'shell: bash',
      'env:',
      '  CI: true',
      'Error: bad',
      FAILED,
    ];
    expect(readStructure(lines.map((line) => line.replace('##[error]', 'Error: ')))).toMatchObject({
      failedSections: [{ name: 'Run npm test', lineStart: 3, lineEnd: 9 }],
      echoes: [{ start: 3, end: 7 }],
    });
  });
});
