import type { Category } from '../../../../src/domain/category.ts';
import { AWAY } from '../outside-address.ts';
import { create, createFile, type Edit, PLANTS, type Program, replace } from '../planted/program.ts';
import { JAVASCRIPT_FLAKY, JAVASCRIPT_NEW, PYTHON_FLAKY, PYTHON_NEW, WORKFLOW } from '../whose/lab.ts';

/** A way to break a repository, with its truth. */
export interface Fault {
  readonly name: string;
  /** The right categories. If empty, the category depends on whether the test fails by an assertion. */
  readonly categories: readonly Category[];
  /** True if the same commit passes when it is rerun. */
  readonly isTransient: boolean;
  /** The files that contain the fault. */
  readonly files: readonly string[];
  readonly act: 'code' | 'configuration' | 'dependency' | 'rerun';
  readonly edits: readonly Edit[];
  /** The edits that fix it. If absent, the fault is reverted. */
  readonly mend?: readonly Edit[];
  /** Variables of the job in which the fault appears. */
  readonly environment: Readonly<Record<string, string>>;
  /** The file of the failing test. Null if a step fails. */
  readonly test: string | null;
}

/** Lists the files that turn a program into a repository with a workflow, settings and dependencies. */
export function setUp({ language }: Program): Edit[] {
  const isPython = language === 'Python';
  const steps = isPython
    ? [
        'python3 scripts/check_settings.py',
        'python3 -m pip install --quiet --dry-run --no-index --disable-pip-version-check -r requirements.txt',
        'python3 -m compileall -q -x "tests/" .',
      ]
    : [
        'node scripts/check-settings.js',
        'npm ci --offline --no-audit --no-fund',
        'for file in $(git ls-files "src/*.js" "lib/*.js"); do node --check "$file" || exit 1; done',
      ];
  const workflow = createFile(
    WORKFLOW,
    [
      ['name: ci', 'on: push', 'jobs:', '  test:', '    runs-on: ubuntu-latest', '    env:'],
      ['      API_URL: http://127.0.0.1:8080', '    steps:'],
      steps.map((step) => `      - run: ${step}`),
    ].flat(),
  );
  const values = create('deploy/values.yaml', 'name: planted', 'port: 8080');
  if (isPython)
    return [
      ...PYTHON_FLAKY,
      workflow,
      values,
      create('.gitignore', '__pycache__'),
      create('requirements.txt', 'pytest'),
      create(
        'scripts/check_settings.py',
        'import os',
        'import sys',
        '',
        "if not os.environ.get('API_URL'):",
        "    sys.exit('Error: the environment variable API_URL is not set')",
        "port = dict(line.split(': ', 1) for line in open('deploy/values.yaml').read().splitlines())['port']",
        'if not port.isdigit():',
        '    sys.exit(f"Error: deploy/values.yaml: port must be a number, got \'{port}\'")',
      ),
    ];
  return [
    ...JAVASCRIPT_FLAKY,
    workflow,
    values,
    create('.gitignore', 'node_modules'),
    create('package-lock.json', LOCK),
    create('vendor/pad/package.json', '{ "name": "pad", "version": "1.0.0" }'),
    create(
      'scripts/check-settings.js',
      "import { readFileSync } from 'node:fs';",
      '',
      "if (!process.env.API_URL) throw new Error('the environment variable API_URL is not set');",
      "const port = /port: (.*)/.exec(readFileSync('deploy/values.yaml', 'utf8'))[1];",
      "if (!/^\\d+$/.test(port)) throw new Error('deploy/values.yaml: port must be a number, got ' + port);",
    ),
  ];
}

const LOCK =
  '{"name":"planted","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{"":{"name":"planted",' +
  '"version":"1.0.0"}}}';
/** The lock file that contains the dependency. */
const LOCKED = LOCK.replace(
  '"version":"1.0.0"}}}',
  '"version":"1.0.0","dependencies":{"pad":"file:vendor/pad"}},"node_modules/pad":{"resolved":"vendor/pad",' +
    '"link":true},"vendor/pad":{"version":"1.0.0"}}}',
);

/** Lists the faults of a program. `code` is one of its files, to which a wrong line is added. */
export function listFaults(program: Program, code: string): Fault[] {
  const isPython = program.language === 'Python';
  const lasting = { isTransient: false, environment: {}, test: null };
  const plants = PLANTS.map((plant): Fault => {
    const { edits } = program.plants[plant];
    return {
      ...lasting,
      name: plant,
      categories: [],
      files: listPaths(edits),
      act: 'code',
      edits,
      test: 'test',
    };
  });
  const broken = isPython ? 'def broken(:' : 'export function broken( {';
  const wrong = isPython ? PYTHON_NEW : JAVASCRIPT_NEW;
  const requirement = isPython
    ? replace('requirements.txt', 'pytest\n', 'pytest\npytets-helpers==8.1\n')
    : replace(
        'package.json',
        '"type": "module"',
        '"type": "module", "dependencies": { "pad": "file:vendor/pad" }',
      );
  const flaky = isPython ? 'tests/test_worker.py' : 'test/worker.test.js';
  const setting = (name: string, edit: Edit): Fault => {
    const files = [edit.path];
    return { ...lasting, name, categories: ['CONFIG_ERROR'], files, act: 'configuration', edits: [edit] };
  };
  return [
    ...plants,
    {
      ...lasting,
      name: 'syntax error',
      categories: ['CODE_ERROR'],
      files: [code],
      act: 'code',
      edits: [replace(code, '', `${broken}\n`)],
    },
    {
      ...lasting,
      name: 'wrong test',
      categories: ['TEST_FAILURE'],
      files: listPaths(wrong),
      act: 'code',
      edits: wrong,
      test: wrong[0]?.path ?? null,
    },
    {
      ...lasting,
      name: 'dependency',
      categories: ['DEPENDENCY_ERROR'],
      // An outdated lock file can be fixed in either of the two files.
      files: isPython ? ['requirements.txt'] : ['package.json', 'package-lock.json'],
      act: 'dependency',
      edits: [requirement],
      ...(isPython ? {} : { mend: [replace('package-lock.json', LOCK, LOCKED)] }),
    },
    setting('missing variable', replace(WORKFLOW, '      API_URL: http://127.0.0.1:8080\n', '')),
    setting('wrong value', replace('deploy/values.yaml', 'port: 8080', 'port: "http"')),
    {
      ...lasting,
      name: 'flaky test',
      categories: ['TEST_FAILURE'],
      isTransient: true,
      files: [],
      act: 'rerun',
      edits: [],
      environment: { WORKER: 'slow' },
      test: flaky,
    },
    {
      ...lasting,
      name: 'registry away',
      categories: ['INFRA_ERROR'],
      isTransient: true,
      files: [],
      act: 'rerun',
      edits: [],
      environment: { REGISTRY: `http://${AWAY}` },
    },
  ];
}

function listPaths(edits: readonly Edit[]): string[] {
  return [...new Set(edits.map(({ path }) => path))];
}
