import type { HttpDeps } from '../../src/api/server.ts';
import { CI_SYSTEM_NAMES } from '../../src/domain/build.ts';
import { TriageError } from '../../src/domain/errors.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import type { Logger } from '../../src/ports/telemetry.ts';
import { ProvidersConfig } from '../../src/providers/registry.ts';

export interface LogLine {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** Creates a logger that records its lines. */
export function createRecordingLogger(lines: LogLine[]): Logger {
  const at = (level: string, bound: object) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...bound, ...fields }, message });
  const make = (bound: object): Logger => ({
    debug: at('debug', bound),
    info: at('info', bound),
    warn: at('warn', bound),
    error: at('error', bound),
    child: (fields) => make({ ...bound, ...fields }),
  });
  return make({});
}

export const TOKENS = {
  ingest: 'ingest-token-0123456789',
  read: 'read-token-0123456789',
  review: 'review-token-0123456789',
  admin: 'admin-token-0123456789',
} as const;
export const GITHUB_SECRETS = ['first-github-secret', 'second-github-secret'] as const;
export const JENKINS_SECRETS = ['first-jenkins-secret', 'second-jenkins-secret'] as const;

/** Creates providers with no configuration except these webhook secrets. */
export function withSecrets(
  secrets: Partial<Record<keyof ProvidersConfig, readonly string[]>>,
): ProvidersConfig {
  return ProvidersConfig.parse(
    Object.fromEntries(Object.entries(secrets).map(([name, webhookSecrets]) => [name, { webhookSecrets }])),
  );
}

export const TEST_CONFIG: HttpDeps['config'] = {
  http: {
    host: '127.0.0.1',
    port: 0,
    publicUrl: null,
    maxBodyBytes: 2 * 1024 * 1024,
    maxLogBytes: 8 * 1024 * 1024,
    rateLimit: 100_000,
    tokenRateLimit: 100_000,
    sourceRateLimit: 100_000,
    trustProxy: false,
  },
  auth: {
    tokens: (['ingest', 'read', 'review', 'admin'] as const).map((role) => ({
      name: `${role}-holder`,
      token: TOKENS[role],
      roles: [role],
    })),
  },
  providers: withSecrets({
    ...Object.fromEntries(CI_SYSTEM_NAMES.map((name) => [name, [`first-${name}-secret`]])),
    github: GITHUB_SECRETS,
    jenkins: JENKINS_SECRETS,
  }),
  review: { claimMs: 60_000, questionMs: 60_000, undoMs: 0, auditEvery: 0 },
};

/**
 * Creates an object of which every method fails like a database that is unavailable, for tests of what
 * happens before any store is used.
 */
function createBrokenPort<Port extends object>(name: string): Port {
  const fail = async () => {
    throw new TriageError('storage-failed', `The ${name} does not answer.`, { retryable: true });
  };
  return new Proxy({} as Port, { get: () => fail });
}

/** Creates all dependencies of the HTTP layer, without any implementation. */
export function createEmptyHttpDeps(changes: Partial<HttpDeps> = {}): HttpDeps {
  const store = new Proxy({}, { get: () => createBrokenPort('database') });
  return {
    config: TEST_CONFIG,
    stores: store as HttpDeps['stores'],
    database: createBrokenPort('database'),
    archive: createBrokenPort('archive'),
    notifier: { notify: () => undefined, settle: async () => undefined },
    vectorIndex: createBrokenPort('index'),
    knowledge: createBrokenPort('knowledge'),
    masker: createMasker(),
    ask: createBrokenPort('database'),
    repositoryAsk: createBrokenPort('database'),
    logger: createRecordingLogger([]),
    clock: { now: () => Date.now() },
    readiness: async () => ({ ok: true, degraded: [], backends: {} }),
    ...changes,
  };
}
