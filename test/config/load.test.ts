import { describe, expect, it } from 'vitest';
import { createEmbeddedPreset, createPreset, type Environment, loadConfig } from '../../src/config/load.ts';
import { Config, VARIABLES } from '../../src/config/schema.ts';
import { TriageError } from '../../src/domain/errors.ts';

const PRESET = createEmbeddedPreset('/data', '/knowledge');
const TOKEN = 'a-token-of-16-chars';

describe('the environment', () => {
  it('changes nothing if its variables are absent or empty', () => {
    expect(load({})).toEqual(Config.parse(PRESET));
    expect(load({ FAULTLINE_PORT: '', FAULTLINE_HOST: '' })).toEqual(Config.parse(PRESET));
  });

  it('reports all errors at once', () => {
    const said = catchError(() =>
      load({
        FAULTLINE_PORT: 'eighty',
        FAULTLINE_TRUST_PROXY: '',
        FAULTLINE_AUTO_NOTIFY: '7',
        FAULTLINE_CLONES: 'x',
      }),
    );
    for (const name of ['FAULTLINE_PORT', 'FAULTLINE_AUTO_NOTIFY', 'FAULTLINE_CLONES'])
      expect(said).toContain(name);
  });

  it('sets text, numbers, lists, pairs and tokens', () => {
    const config = load({
      FAULTLINE_HOST: '0.0.0.0',
      FAULTLINE_PORT: '8080',
      FAULTLINE_AUTO_NOTIFY: '0.9',
      FAULTLINE_GITHUB_WEBHOOK_SECRET: 'secret-one, secret-two\n',
      FAULTLINE_CLONES: 'shop/api=/clones/api,shop/web=/clones/web=2',
      FAULTLINE_TOKENS: `ci:ingest:${TOKEN}\nada:read+review:with:colons:in:it`,
    });
    expect(config.http).toMatchObject({ host: '0.0.0.0', port: 8080 });
    expect(config.triage.thresholds.autoNotify).toBe(0.9);
    expect(config.providers.github.webhookSecrets).toEqual(['secret-one', 'secret-two']);
    expect(config.codeHost.clones).toEqual({ 'shop/api': '/clones/api', 'shop/web': '/clones/web=2' });
    expect(config.auth.tokens).toEqual([
      { name: 'ci', roles: ['ingest'], token: TOKEN },
      { name: 'ada', roles: ['read', 'review'], token: 'with:colons:in:it' },
    ]);
  });

  it.each([
    ['1', 1],
    [' 2 ', 2],
    ['127.0.0.1', ['127.0.0.1']],
    ['10.0.0.0/8, fd00::/8,loopback', ['10.0.0.0/8', 'fd00::/8', 'loopback']],
  ])('sets the trusted proxies %j', (text, proxies) => {
    expect(load({ FAULTLINE_TRUST_PROXY: text }).http.trustProxy).toEqual(proxies);
  });

  it('describes the form of pairs in general words in its error', () => {
    expect(catchError(() => load({ FAULTLINE_OIDC_ROLES: 'ci-team' }))).toContain(
      'FAULTLINE_OIDC_ROLES: "ci-team" does not have the form name=value',
    );
  });

  it('never changes the preset that it is applied to', () => {
    const before = structuredClone(PRESET);
    load({ FAULTLINE_PORT: '8080', FAULTLINE_CLONES: 'a/b=c' });
    expect(PRESET).toEqual(before);
  });
});

describe('prices of models', () => {
  const prices = { ours: { input: 1, cachedInput: 0.5, output: 2 } };

  it('are read from the variable or from a file', () => {
    expect(load({ FAULTLINE_MODEL_PRICES: ` ${JSON.stringify(prices)}` }).analyst.llm.prices).toEqual(prices);
    const file = (path: string) => (path === '/prices.json' ? JSON.stringify(prices) : '');
    expect(load({ FAULTLINE_MODEL_PRICES: '/prices.json' }, file).analyst.llm.prices).toEqual(prices);
  });

  it('are refused with the model and the field that is wrong', () => {
    expect(catchError(() => load({ FAULTLINE_MODEL_PRICES: '{"ours": {"input": 1}}' }))).toContain(
      'analyst.llm.prices.ours.output',
    );
    expect(catchError(() => load({ FAULTLINE_MODEL_PRICES: '/prices.json' }, () => 'model,input'))).toMatch(
      /names \/prices.json, which is not JSON/,
    );
  });
});

describe('secrets in files', () => {
  it('are read from NAME_FILE, without the line break', () => {
    const config = load({ OPENAI_API_KEY_FILE: '/run/secrets/key' }, (path) => `key of ${path}\n`);
    expect(config.analyst.llm.apiKey).toBe('key of /run/secrets/key');
  });

  it('are not supported for variables that are not secret', () => {
    expect(load({ FAULTLINE_PORT_FILE: '/x' }, () => '1').http.port).toBe(4600);
  });

  it('must be readable', () => {
    const missing = () => {
      throw new Error('ENOENT');
    };
    expect(catchError(() => load({ OPENAI_API_KEY_FILE: '/none' }, missing))).toMatch(
      /^OPENAI_API_KEY_FILE names \/none/,
    );
  });

  it('are refused if the variable itself is set too', () => {
    const both = { OPENAI_API_KEY: 'a', OPENAI_API_KEY_FILE: '/b' };
    expect(catchError(() => load(both, () => 'b'))).toMatch(
      /OPENAI_API_KEY and OPENAI_API_KEY_FILE are both set/,
    );
  });
});

describe('an invalid value', () => {
  const WRONG: readonly (readonly [string, string])[] = [
    ['FAULTLINE_PORT', 'many'],
    ['FAULTLINE_PORT', ' '],
    ['FAULTLINE_PORT', '65536'],
    ['FAULTLINE_PORT', '1.5'],
    ['FAULTLINE_PUBLIC_URL', 'not an address'],
    ['FAULTLINE_ANALYST', 'oracle'],
    ['FAULTLINE_LOG_LEVEL', 'loud'],
    ['FAULTLINE_AUTO_NOTIFY', '2'],
    ['FAULTLINE_GITHUB_WRITES', 'comments'],
    ['FAULTLINE_MASK_NAMES', 'corp.example.com'],
    ['FAULTLINE_TRUST_PROXY', '0'],
    ['FAULTLINE_TRUST_PROXY', '100'],
    ['FAULTLINE_TRUST_PROXY', 'true'],
    ['FAULTLINE_TRUST_PROXY', '10.0.0.1,*'],
    ['FAULTLINE_GITHUB_WEBHOOK_SECRET', 'short'],
    ['FAULTLINE_CLONES', 'shop/api'],
    ['FAULTLINE_CLONES', 'shop/api='],
    ['FAULTLINE_MODEL_PRICES', '{"ours": {"input": 1'],
    ['FAULTLINE_MODEL_PRICES', '{"ours": {"input": 1}}'],
    ['FAULTLINE_MODEL_PRICES', '{"ours": {"input": -1, "output": 2}}'],
    ['FAULTLINE_MODEL_PRICES', '{"ours": {"input": 1, "output": 2, "cached": 1}}'],
    ['FAULTLINE_MODEL_PRICES', '/prices.json'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector'],
    ['FAULTLINE_TOKENS', TOKEN],
    ['FAULTLINE_TOKENS', 'ci:ingest:short'],
    ['FAULTLINE_TOKENS', `ci:king:${TOKEN}`],
  ];

  it.each(WRONG)('of %s (%j) is refused with the name of the variable', (name, value) => {
    expect(catchError(() => load({ [name]: value }))).toContain(name);
  });

  it('never shows a token in its error', () => {
    expect(catchError(() => load({ FAULTLINE_TOKENS: 'ci:king:very-secret-token-words' }))).not.toContain(
      'very-secret',
    );
    expect(catchError(() => load({ FAULTLINE_TOKENS: 'very-secret-token-words' }))).not.toContain(
      'very-secret',
    );
  });

  it('does not hide the next one', () => {
    const said = catchError(() => load({ FAULTLINE_PORT: '70000', FAULTLINE_ANALYST: 'oracle' }));
    expect(said).toContain('FAULTLINE_PORT');
    expect(said).toContain('FAULTLINE_ANALYST');
  });
});

describe('the table of variables', () => {
  it.each(VARIABLES.map((variable) => [variable.name, variable.path] as const))(
    '%s sets a field that exists: %s',
    (_name, path) => {
      expect(hasSchemaAt(path.split('.'))).toBe(true);
    },
  );

  it('names each variable and each field once, and each meaning is a sentence', () => {
    expect(new Set(VARIABLES.map(({ name }) => name)).size).toBe(VARIABLES.length);
    expect(new Set(VARIABLES.map(({ path }) => path)).size).toBe(VARIABLES.length);
    for (const { meaning } of VARIABLES) expect(meaning).toMatch(/^[A-Z].*\.$/);
  });
});

function load(environment: Environment, readFile: (path: string) => string = () => ''): Config {
  return loadConfig(PRESET, environment, readFile);
}

function catchError(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(TriageError);
    expect(error).toMatchObject({ code: 'invalid-config' });
    return error instanceof Error ? error.message : '';
  }
  throw new Error('nothing was refused');
}

/** Whether the schema knows the path; a field that only one driver has counts. */
function hasSchemaAt(path: readonly string[], schema: unknown = Config): boolean {
  const [part, ...rest] = path;
  if (part === undefined) return schema !== undefined;
  if (typeof schema !== 'object' || schema === null) return false;
  if ('unwrap' in schema && typeof schema.unwrap === 'function') return hasSchemaAt(path, schema.unwrap());
  // A choice of drivers: one of them has the field.
  if ('options' in schema && Array.isArray(schema.options))
    return schema.options.some((option) => hasSchemaAt(path, option));
  if (
    !('shape' in schema) ||
    typeof schema.shape !== 'object' ||
    schema.shape === null ||
    !(part in schema.shape)
  )
    return false;
  return hasSchemaAt(rest, Reflect.get(schema.shape, part));
}

describe('a profile', () => {
  it.each([
    ['fast', 2, 'never'],
    ['balanced', 5, 'complex'],
    ['thorough', 8, 'always'],
  ])('%s sets plain numbers', (profile, maxIterations, when) => {
    const { triage } = load({ FAULTLINE_PROFILE: profile });
    expect(triage).toMatchObject({ profile, maxIterations, investigators: { when } });
    expect(triage.budget.seconds * 1000).toBeLessThan(triage.timeLimitMs);
  });

  it('is balanced by default', () => {
    expect(load({}).triage).toEqual(load({ FAULTLINE_PROFILE: 'balanced' }).triage);
  });

  it('is overridden by a cost limit', () => {
    const { triage } = load({ FAULTLINE_PROFILE: 'fast', FAULTLINE_MAX_RUN_USD: '0' });
    expect(triage).toMatchObject({ maxIterations: 2, budget: { tokens: 20_000, costUsd: 0 } });
  });

  it('that does not exist is refused with its variable', () => {
    expect(catchError(() => load({ FAULTLINE_PROFILE: 'lavish' }))).toContain('FAULTLINE_PROFILE');
  });
});

describe('a setting of an earlier release', () => {
  it('is refused with the present behavior', () => {
    expect(
      catchError(() => load({ FAULTLINE_GITHUB_COMMENT_MODE: 'recreate', FAULTLINE_BLIND_EVERY: '20' })),
    ).toMatch(
      /edited in place\. Remove it\n.*FAULTLINE_BLIND_EVERY is no longer a setting: every review item shows its answer\. Remove it/,
    );
  });

  it('is accepted if it asks for the present behavior', () => {
    const former = { FAULTLINE_BLIND_EVERY: '0', FAULTLINE_FIRST_ROUND: 'rules', FAULTLINE_CLAIM_MS: '' };
    expect(load(former)).toEqual(load({}));
  });
});

describe('a preset', () => {
  const of = (environment: Environment) =>
    loadConfig(createPreset(environment, '/data', '/knowledge'), environment, () => '');
  const SERVICES = {
    FAULTLINE_DATABASE_URL: 'postgres://faultline@db/faultline',
    FAULTLINE_REDIS_URL: 'redis://redis:6379',
    FAULTLINE_MONGODB_URL: 'mongodb://mongo:27017',
  };

  it('is embedded by default, and server if a PostgreSQL server is named', () => {
    expect(of({}).database).toEqual({ driver: 'pglite', dataDir: '/data/database' });
    expect(of(SERVICES)).toMatchObject({
      database: { driver: 'postgres', url: SERVICES.FAULTLINE_DATABASE_URL, poolSize: 10 },
      jobQueue: { driver: 'bullmq', url: SERVICES.FAULTLINE_REDIS_URL, inServe: false },
      buildArchive: { driver: 'mongodb', url: SERVICES.FAULTLINE_MONGODB_URL, database: 'faultline' },
      vectorIndex: { driver: 'pgvector' },
    });
  });

  it('uses Redis, MongoDB and Pinecone instead of the database if they are named', () => {
    const { FAULTLINE_DATABASE_URL } = SERVICES;
    const plain = of({ FAULTLINE_DATABASE_URL });
    expect(plain.jobQueue).toEqual({ driver: 'database', concurrency: 4, inServe: false });
    expect(plain.buildArchive).toEqual({ driver: 'postgres' });
    expect(
      of({ FAULTLINE_DATABASE_URL, FAULTLINE_PINECONE_INDEX: 'ours', PINECONE_API_KEY: 'key' }).vectorIndex,
    ).toEqual({ driver: 'pinecone', apiKey: 'key', index: 'ours', baseUrl: null });
    expect(
      of({ ...SERVICES, FAULTLINE_MONGODB_URL: 'mongodb://a,b/logs?replicaSet=r' }).buildArchive,
    ).toMatchObject({
      database: 'logs',
    });
  });

  it.each([
    ['FAULTLINE_REDIS_URL', { ...SERVICES, FAULTLINE_REDIS_URL: 'redis:6379' }],
    ['FAULTLINE_MONGODB_URL', { ...SERVICES, FAULTLINE_MONGODB_URL: 'mongo:27017' }],
    ['PINECONE_API_KEY', { ...SERVICES, FAULTLINE_PINECONE_INDEX: 'ours' }],
  ])('names %s if it is missing or wrong', (name, environment) => {
    expect(catchError(() => of(environment))).toContain(name);
  });
});
