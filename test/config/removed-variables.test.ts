import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createPreset, loadConfig } from '../../src/config/load.ts';
import { describeIgnoredVariables } from '../../src/config/removed-variables.ts';

type Environment = Readonly<Record<string, string>>;

function load(environment: Environment) {
  return loadConfig(createPreset(environment, '/data', '/knowledge'), environment, () => '');
}

const POSTGRES = { FAULTLINE_DATABASE_URL: 'postgres://faultline@db/faultline' };
const REDIS = { ...POSTGRES, FAULTLINE_REDIS_URL: 'redis://redis:6379' };

describe('a variable of an earlier release', () => {
  it.each<[Environment, string]>([
    [{ FAULTLINE_GITHUB_COMMENT: 'true' }, 'set FAULTLINE_GITHUB_WRITES=comment'],
    [{ FAULTLINE_MAX_ITERATIONS: '4' }, 'FAULTLINE_PROFILE sets it'],
    [{ FAULTLINE_PRESET: 'server' }, 'FAULTLINE_DATABASE_URL makes it a server'],
    [{ ...POSTGRES, FAULTLINE_JOB_QUEUE: 'bullmq' }, 'FAULTLINE_REDIS_URL selects BullMQ'],
    [{ ...REDIS, FAULTLINE_JOB_QUEUE: 'database' }, 'FAULTLINE_REDIS_URL selects BullMQ'],
    [{ FAULTLINE_SLACK_CHANNEL: 'C0123456789' }, 'set FAULTLINE_SLACK_CHANNELS=*=C0123456789'],
    [{ LANGSMITH_TRACING: 'true', FAULTLINE_TRACING: 'off' }, 'without LANGSMITH_TRACING, nothing is sent'],
  ])('is refused with its replacement: %j', (environment, replacement) => {
    const name = Object.keys(environment).at(-1);
    expect(() => load(environment)).toThrow(`${name} is no longer a setting: `);
    expect(() => load(environment)).toThrow(replacement);
  });

  it.each<Environment>([
    { FAULTLINE_GITHUB_COMMENT: 'false' },
    { FAULTLINE_PRESET: 'embedded' },
    {
      ...POSTGRES,
      FAULTLINE_PRESET: 'server',
      FAULTLINE_JOB_QUEUE: 'pg-boss',
      FAULTLINE_BUILD_ARCHIVE: 'postgres',
    },
    { ...REDIS, FAULTLINE_JOB_QUEUE: 'bullmq', FAULTLINE_REDIS_PREFIX: 'faultline' },
    { FAULTLINE_TRACING: 'off', FAULTLINE_CLAIM_MS: '900000' },
  ])('is accepted if it asks for the present behavior: %j', (environment) => {
    expect(() => load(environment)).not.toThrow();
  });

  it('is only mentioned if another program may use it', () => {
    expect(() => load({ LANGFUSE_PUBLIC_KEY: 'pk' })).not.toThrow();
    expect(describeIgnoredVariables({ LANGFUSE_PUBLIC_KEY: 'pk' })).toEqual([
      expect.stringMatching(/^LANGFUSE_PUBLIC_KEY is no longer read: set OTEL_EXPORTER_OTLP_ENDPOINT=https/),
    ]);
  });
});

describe('settings that depend on others', () => {
  it('are derived from them', () => {
    const { http, triage } = load({
      FAULTLINE_RATE_LIMIT: '10',
      FAULTLINE_MAX_LOG_BYTES: '4000',
      FAULTLINE_AUTO_NOTIFY: '0.6',
    });
    expect(http).toMatchObject({ tokenRateLimit: 50, sourceRateLimit: 100, maxBodyBytes: 1000 });
    expect(triage.thresholds).toEqual({ autoNotify: 0.6, humanReview: 0.6, selfCorrect: 0.5 });
    const busy = load({ ...POSTGRES, FAULTLINE_CONCURRENCY: '16' });
    expect(busy.database).toMatchObject({ poolSize: 22 });
  });
});

it('the settings page lists fewer than 110 variables', () => {
  const page = readFileSync(new URL('../../docs/reference/configuration.md', import.meta.url), 'utf8');
  expect(page.match(/^\| `/gm)?.length).toBeLessThan(110);
});
