import type { Category } from '../../../../src/domain/category.ts';
import { endLog, type LoopCase, type PastBuild } from './case.ts';

/* Failures of machines and services, without code at hand. Earlier builds explain them. */

interface Outage {
  readonly name: string;
  readonly category: Category;
  readonly also?: Category;
  readonly log: readonly string[];
  /** The names that the cause must mention. */
  readonly names: readonly string[];
}

export function createHistoryCases(): LoopCase[] {
  return [LASTING.map(createLastingCase), SHARED.map(createSharedCase), TOLD.map(createInformedCase)].flat();
}

const PASSED: PastBuild = { status: 'passed' };
const FAILED_BEFORE = 5;

/** Creates a case with a passing build and five that failed in the same way at later commits. */
function createLastingCase({ name, category, also, log, names }: Outage): LoopCase {
  const text = endLog(log);
  const failed = Array.from({ length: FAILED_BEFORE }, (): PastBuild => ({ status: 'failed', log: text }));
  return {
    name,
    project: name,
    repository: `outages/${name}`,
    log: text,
    clone: null,
    commit: null,
    past: [PASSED].concat(failed),
    documents: [],
    truth: {
      categories: also === undefined ? [category] : [category, also],
      cause: [names],
      suspect: null,
      fix: [['#2', 'in a row', 'since the last passing', 'will not help', 'does not help']],
      settledBy: ['count_consecutive_failures'],
      proof: '6 times in a row',
      because: 'six builds in a row failed in this way: it lasts, so that running it again will not help',
    },
  };
}

const LASTING: readonly Outage[] = [
  {
    name: 'names-server',
    category: 'INFRA_ERROR',
    log: ['$ curl -fsS https://assets.corp.test/list', 'curl: (6) Could not resolve host: assets.corp.test'],
    names: ['assets.corp.test'],
  },
  {
    name: 'disk-of-runner',
    category: 'INFRA_ERROR',
    log: [
      '$ tar xf base.tar',
      'tar: base/lib/part7: Cannot write: No space left on device',
      'tar: Exiting with failure status due to previous errors',
    ],
    names: ['No space left on device', 'disk'],
  },
  {
    name: 'image-registry',
    category: 'INFRA_ERROR',
    log: [
      '$ docker pull images.corp.test/base:7',
      'Error response from daemon: Get "https://images.corp.test/v2/": dial tcp 10.4.0.9:443: connect: connection refused',
    ],
    names: ['images.corp.test'],
  },
  {
    name: 'queue-broker',
    category: 'INFRA_ERROR',
    log: [
      '$ ./smoke.sh',
      'amqp: dial tcp 10.4.0.12:5672: i/o timeout',
      'smoke: broker queue.corp.test did not answer within 30 s',
    ],
    names: ['queue.corp.test', '10.4.0.12', 'i/o timeout'],
  },
  {
    name: 'package-mirror',
    category: 'INFRA_ERROR',
    also: 'DEPENDENCY_ERROR',
    log: [
      '$ apt-get update',
      'Err:1 http://mirror.corp.test stable InRelease',
      '  503  Service Unavailable [IP: 10.4.0.20 80]',
      'E: Failed to fetch http://mirror.corp.test/dists/stable/InRelease  503  Service Unavailable [IP: 10.4.0.20 80]',
    ],
    names: ['mirror.corp.test', '503'],
  },
  {
    name: 'lost-runners',
    category: 'INFRA_ERROR',
    log: [
      '$ make',
      'The self-hosted runner: pool-7 lost communication with the server. Verify the machine is running and has a healthy network connection.',
    ],
    names: ['lost communication', 'pool-7'],
  },
];

/**
 * Creates a case in which three other repositories failed with the same message, but this pipeline never did.
 */
function createSharedCase({ name, category, also, log, names }: Outage): LoopCase {
  const text = endLog(log);
  const others = ['cashier', 'warehouse', 'courier'].map((other): PastBuild => {
    const theirs = endLog(['$ make all'].concat(log.slice(1)));
    return { status: 'failed', repository: `neighbors/${other}-${name}`, log: theirs };
  });
  return {
    name,
    project: name,
    repository: `shared/${name}`,
    log: text,
    clone: null,
    commit: null,
    past: [PASSED].concat(others),
    documents: [],
    truth: {
      categories: also === undefined ? [category] : [category, also],
      cause: [names],
      beyondLog: [['neighbors/', 'other repositories', '3 repositories', 'three repositories']],
      suspect: null,
      fix: [],
      settledBy: ['find_similar_failures'],
      proof: 'neighbors/',
      because: 'three other repositories failed with the same words: it is not of this repository',
    },
  };
}

const SHARED: readonly Outage[] = [
  {
    name: 'signing-service',
    category: 'INFRA_ERROR',
    log: ['$ sign release.bin', 'sign: POST https://sign.corp.test/v1/keys/release: 502 Bad Gateway'],
    names: ['sign.corp.test', '502'],
  },
  {
    name: 'artifact-store',
    category: 'INFRA_ERROR',
    log: ['$ upload build.zip', 'upload: put https://store.corp.test/build.zip: connection reset by peer'],
    names: ['store.corp.test', 'connection reset'],
  },
  {
    name: 'index-of-packages',
    category: 'DEPENDENCY_ERROR',
    also: 'INFRA_ERROR',
    log: [
      '$ npm ci',
      'npm error code E404',
      'npm error 404 Not Found - GET https://packages.corp.test/@corp%2ftheme - not_found',
    ],
    names: ['theme', 'packages.corp.test'],
  },
  {
    name: 'time-service',
    category: 'INFRA_ERROR',
    log: ['$ deploy plan', 'Error: clock skew of 412 s against ntp.corp.test, refusing to sign requests'],
    names: ['clock skew', 'ntp.corp.test'],
  },
];

interface Told extends Outage {
  /** The line that states the cause, among many neutral ones. */
  readonly telling: string;
}

/** Creates a case whose cause is an ordinary line of the log, far from an uninformative last line. */
function createInformedCase({ name, category, also, log, names, telling }: Told): LoopCase {
  const [first = '', ...rest] = log;
  const before = Array.from({ length: 60 }, (_, at) => `copying block ${at + 1} of 84`);
  const between = Array.from({ length: 24 }, (_, at) => `copying block ${at + 61} of 84`);
  const text = endLog([first].concat(before, telling, between, rest));
  return {
    name,
    project: name,
    repository: `told/${name}`,
    log: text,
    clone: null,
    commit: null,
    past: [],
    documents: [],
    truth: {
      categories: also === undefined ? [category] : [category, also],
      cause: [names],
      suspect: null,
      fix: [],
      settledBy: ['read_build_log', 'read_console_output'],
      proof: telling,
      because:
        'the telling line is none that a reader of errors takes: it is among the last lines of the log',
    },
  };
}

const TOLD: readonly Told[] = [
  {
    name: 'block-copy',
    category: 'INFRA_ERROR',
    log: ['$ blockcopy all', 'Killed'],
    telling: 'pool blue is handed to another tenant at 09:40',
    names: ['pool blue'],
  },
  {
    name: 'lab-bench',
    category: 'INFRA_ERROR',
    log: ['$ benchrun all', 'Connection to bench-4 closed by remote host.'],
    telling: 'bench-4 announces maintenance of its power supply',
    names: ['maintenance', 'bench-4'],
  },
  {
    name: 'seed-data',
    category: 'CONFIG_ERROR',
    also: 'INFRA_ERROR',
    log: ['$ seed --all', 'Error: permission denied'],
    telling: 'using profile reader, which may only read',
    names: ['profile reader', 'permission denied'],
  },
  {
    name: 'page-upload',
    category: 'CONFIG_ERROR',
    also: 'INFRA_ERROR',
    log: ['$ pages push', 'Error: 401 Unauthorized'],
    telling: 'the variable PAGES_KEY is empty, going on without',
    names: ['PAGES_KEY', '401'],
  },
];
