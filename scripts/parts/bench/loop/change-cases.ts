import { create, createFile, type PlannedCommit, replace } from '../planted/program.ts';
import { endLog, type LoopCase, writeHistory } from './case.ts';

/* Failures of configuration and of dependencies: a commit since the passing build, or the file as it is. */

interface Changed {
  readonly name: string;
  readonly category: 'CONFIG_ERROR' | 'DEPENDENCY_ERROR';
  readonly path: string;
  readonly before: readonly string[];
  /** The line that the guilty commit replaces. `to` is its replacement. */
  readonly from: string;
  readonly to: string;
  readonly log: readonly string[];
  /** The names that the cause and the fix must mention. */
  readonly names: readonly string[];
}

export function createChangeCases(parent: string): LoopCase[] {
  return [
    CHANGED.map((planted) => createChangedCase(parent, planted)),
    STANDING.map((planted) => createStandingCase(parent, planted)),
  ].flat();
}

const NOTES = create('README.md', '# Notes');

function note(text: string): PlannedCommit {
  return {
    author: 'Cora Lint',
    message: `Note ${text}`,
    edits: [replace('README.md', '# Notes', `# Notes\n${text}`)],
  };
}

/** Creates a case in which one of three commits since the passing build changed the file. */
function createChangedCase(parent: string, planted: Changed): LoopCase {
  const { name, category, path, from, to, names } = planted;
  const guilty = { author: 'Bob Hart', message: `Tidy ${path}`, edits: [replace(path, from, to)] };
  const { folder, ids, head } = writeHistory(parent, [
    { author: 'Ada Brook', message: 'Import the project', edits: [NOTES, createFile(path, planted.before)] },
    note('about the office'),
    guilty,
    note('about the garden'),
  ]);
  const [green = '', , culprit = ''] = ids;
  return {
    name,
    project: name,
    repository: `changes/${name}`,
    log: endLog(planted.log),
    clone: folder,
    commit: head,
    past: [{ status: 'passed', commit: green }],
    documents: [],
    truth: {
      categories: [category],
      cause: [names],
      beyondLog: [[culprit.slice(0, 10), path]],
      suspect: { commit: culprit, path },
      fix: [[culprit.slice(0, 10), path]],
      settledBy: ['changed_since_green'],
      proof: culprit.slice(0, 10),
      because: `one commit since the passing build changed ${path}; the log does not say that it did`,
    },
  };
}

const CHANGED: readonly Changed[] = [
  {
    name: 'payment-gate',
    category: 'CONFIG_ERROR',
    path: '.github/workflows/ci.yml',
    before: [
      'jobs:',
      '  test:',
      '    env:',
      '      PAYMENTS_URL: https://pay.acme.test',
      '      LEVEL: debug',
      '    steps:',
      '      - run: make check',
    ],
    from: '      PAYMENTS_URL: https://pay.acme.test\n',
    to: '',
    log: [
      '$ make check',
      'Error: Missing required environment variable: PAYMENTS_URL',
      'make: *** [Makefile:3: check] Error 1',
    ],
    names: ['PAYMENTS_URL'],
  },
  {
    name: 'license-scan',
    category: 'CONFIG_ERROR',
    path: '.github/workflows/scan.yml',
    before: [
      'jobs:',
      '  scan:',
      '    runs-on: ubuntu-24.04',
      '    steps:',
      '      - run: pip install scanlist',
      '      - run: scanlist --strict',
    ],
    from: '      - run: pip install scanlist\n',
    to: '',
    log: ['$ scanlist --strict', '/home/runner/work/_temp/3f.sh: line 1: scanlist: command not found'],
    names: ['scanlist'],
  },
  {
    name: 'bucket-sync',
    category: 'CONFIG_ERROR',
    path: '.gitlab-ci.yml',
    before: [
      'sync:',
      '  id_tokens:',
      '    BUCKET_TOKEN:',
      '      aud: https://store.acme.test',
      '  script:',
      '    - bucketctl sync',
    ],
    from: '  id_tokens:\n    BUCKET_TOKEN:\n      aud: https://store.acme.test\n',
    to: '',
    log: ['$ bucketctl sync', 'bucketctl: error: environment variable BUCKET_TOKEN is not set'],
    names: ['BUCKET_TOKEN'],
  },
  {
    name: 'site-export',
    category: 'CONFIG_ERROR',
    path: '.github/workflows/export.yml',
    before: [
      'jobs:',
      '  export:',
      '    permissions:',
      '      contents: read',
      '      pages: write',
      '    steps:',
      '      - run: make export',
    ],
    from: '      pages: write\n',
    to: '',
    log: [
      '$ make export',
      'remote: Resource not accessible by integration',
      'Error: HttpError: 403 Resource not accessible by integration',
    ],
    names: ['Resource not accessible', 'permission'],
  },
  {
    name: 'report-sheets',
    category: 'DEPENDENCY_ERROR',
    path: 'requirements.txt',
    before: ['requests==2.32.3', 'sheetwriter-acme==1.4.0', 'pyyaml==6.0.2'],
    from: 'sheetwriter-acme==1.4.0',
    to: 'sheetwriter-acme==1.40.0',
    log: [
      '$ pip install -r requirements.txt',
      'ERROR: Could not find a version that satisfies the requirement sheetwriter-acme==1.40.0 (from versions: 1.2.0, 1.3.1, 1.4.0)',
      'ERROR: No matching distribution found for sheetwriter-acme==1.40.0',
    ],
    names: ['sheetwriter-acme'],
  },
  {
    name: 'chart-kit',
    category: 'DEPENDENCY_ERROR',
    path: 'package.json',
    before: [
      '{',
      '  "name": "chart-kit",',
      '  "dependencies": {',
      '    "@acme/axis": "^3.1.0",',
      '    "@acme/color": "^1.0.0"',
      '  }',
      '}',
    ],
    from: '"@acme/axis": "^3.1.0"',
    to: '"@acme/axis": "^31.0.0"',
    log: [
      '$ npm install',
      'npm error code ETARGET',
      'npm error notarget No matching version found for @acme/axis@^31.0.0.',
      'npm error notarget In most cases you or one of your dependencies are requesting',
      "npm error notarget a package version that doesn't exist.",
    ],
    names: ['@acme/axis'],
  },
  {
    name: 'wire-codec',
    category: 'DEPENDENCY_ERROR',
    path: 'Cargo.toml',
    before: [
      '[package]',
      'name = "wire-codec"',
      'version = "0.1.0"',
      '',
      '[dependencies]',
      'framer-acme = "0.4"',
    ],
    from: 'framer-acme = "0.4"',
    to: 'framer-acme = "0.9"',
    log: [
      '$ cargo build',
      '    Updating crates.io index',
      'error: failed to select a version for the requirement `framer-acme = "^0.9"`',
      "candidate versions found which didn't match: 0.4.2, 0.4.1",
      'location searched: crates.io index',
      'required by package `wire-codec v0.1.0 (/home/runner/work/wire-codec/wire-codec)`',
    ],
    names: ['framer-acme'],
  },
  {
    name: 'gem-shelf',
    category: 'DEPENDENCY_ERROR',
    path: 'Gemfile',
    before: ["source 'https://rubygems.org'", "gem 'shelf-acme', '~> 2.0'", "gem 'rake'"],
    from: "'~> 2.0'",
    to: "'~> 5.0'",
    log: [
      '$ bundle install',
      'Fetching gem metadata from https://rubygems.org/...',
      "Could not find gem 'shelf-acme (~> 5.0)' in rubygems repository https://rubygems.org/ or installed locally.",
    ],
    names: ['shelf-acme'],
  },
];

interface Standing {
  readonly name: string;
  readonly category: 'CONFIG_ERROR' | 'DEPENDENCY_ERROR';
  readonly path: string;
  readonly lines: readonly string[];
  readonly log: readonly string[];
  readonly names: readonly string[];
  readonly proof: string;
}

/**
 * Creates a case in which one commit wrote everything and no build passed. The file itself shows the fault.
 */
function createStandingCase(
  parent: string,
  { name, category, path, lines, log, names, proof }: Standing,
): LoopCase {
  const commit = {
    author: 'Ada Brook',
    message: 'Import the project',
    edits: [NOTES, createFile(path, lines)],
  };
  const { folder, head } = writeHistory(parent, [commit]);
  return {
    name,
    project: name,
    repository: `changes/${name}`,
    log: endLog(log),
    clone: folder,
    commit: head,
    past: [],
    documents: [],
    truth: {
      categories: [category],
      cause: [names],
      suspect: { commit: null, path },
      fix: [[path]],
      settledBy: ['read_file'],
      proof,
      because: `no build passed and there is one commit: ${path} has the line that is wrong`,
    },
  };
}

const STANDING: readonly Standing[] = [
  {
    name: 'release-train',
    category: 'CONFIG_ERROR',
    path: '.github/workflows/release.yml',
    lines: [
      'on: push',
      'jobs:',
      '  release:',
      '    runs-on: ubuntu-24.04',
      '    step:',
      '      - run: make release',
    ],
    log: [
      'Invalid workflow file: .github/workflows/release.yml#L5',
      "The workflow is not valid. .github/workflows/release.yml (Line: 5, Col: 5): Unexpected value 'step'",
    ],
    names: ["'step'", 'Unexpected value'],
    proof: 'step:',
  },
  {
    name: 'night-build',
    category: 'CONFIG_ERROR',
    path: '.gitlab-ci.yml',
    lines: ['build:', '  stage: compile', '  script:', '    - make', 'stages:', '  - build'],
    log: [
      'Found errors in your .gitlab-ci.yml:',
      'build job: chosen stage compile does not exist; available stages are .pre, build, .post',
    ],
    names: ['stage compile', 'compile'],
    proof: 'stage: compile',
  },
  {
    name: 'form-builder',
    category: 'DEPENDENCY_ERROR',
    path: 'package.json',
    lines: [
      '{',
      '  "name": "form-builder",',
      '  "dependencies": {',
      '    "@acme/fields": "2.0.0",',
      '    "@acme/forms": "1.0.0"',
      '  }',
      '}',
    ],
    log: [
      '$ npm install',
      'npm error code ERESOLVE',
      'npm error ERESOLVE unable to resolve dependency tree',
      'npm error While resolving: form-builder@1.0.0',
      'npm error Found: @acme/fields@2.0.0',
      'npm error node_modules/@acme/fields',
      'npm error   @acme/fields@"2.0.0" from the root project',
      'npm error Could not resolve dependency:',
      'npm error peer @acme/fields@"^1.0.0" from @acme/forms@1.0.0',
    ],
    names: ['@acme/fields'],
    proof: '"@acme/fields": "2.0.0"',
  },
  {
    name: 'tide-tables',
    category: 'DEPENDENCY_ERROR',
    path: 'requirements.txt',
    lines: ['tidewire==3.0.0', 'moonphase==1.1.0'],
    log: [
      '$ pip install -r requirements.txt',
      'ERROR: Cannot install moonphase==1.1.0 and tidewire==3.0.0 because these package versions have conflicting dependencies.',
      'ERROR: ResolutionImpossible: for help visit https://pip.pypa.io/en/latest/topics/dependency-resolution/',
    ],
    names: ['moonphase', 'tidewire'],
    proof: 'moonphase==1.1.0',
  },
  {
    name: 'gauge-board',
    category: 'DEPENDENCY_ERROR',
    path: 'go.mod',
    lines: ['module acme.test/gauge-board', '', 'go 1.24', '', 'require acme.test/needle v1.9.0'],
    log: [
      '$ go build ./...',
      'go: acme.test/needle@v1.9.0: reading acme.test/needle/go.mod at revision v1.9.0: unknown revision v1.9.0',
    ],
    names: ['acme.test/needle'],
    proof: 'require acme.test/needle v1.9.0',
  },
];
