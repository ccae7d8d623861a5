import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPrometheusMetrics } from '../../src/adapters/metrics/prometheus.ts';
import { buildOperations } from '../../src/api/operations.ts';
import { createRecordingLogger, type LogLine } from '../support/http-deps.ts';

const lines: LogLine[] = [];
const since = '2026-11-22T07:00:00.000Z';
const backends = {
  database: { state: 'ok' as const, says: 'at db.internal', since },
  archive: { state: 'down' as const, says: 'no', since },
};
let operations: Awaited<ReturnType<typeof buildOperations>>;
beforeEach(async () => {
  const readiness = async () => ({ ok: true, degraded: ['archive'], backends });
  operations = await buildOperations({
    readiness,
    metrics: createPrometheusMetrics(),
    logger: createRecordingLogger(lines),
  });
});
afterEach(() => operations.close());

describe('the monitoring port', () => {
  it('serves health, readiness and metrics without a token', async () => {
    expect((await operations.inject('/healthz')).json()).toEqual({ alive: true });
    expect((await operations.inject('/readyz')).json()).toEqual({
      ready: true,
      degraded: ['archive'],
      backends: { database: 'ok', archive: 'down' },
    });
    const numbers = await operations.inject('/metrics');
    expect(numbers.body).toContain('# TYPE faultline_queue_depth gauge');
    expect(numbers.body).toMatch(/^process_resident_memory_bytes \d+/m);
  });

  it.each(['/', '/api/readiness', '/api/builds', '/webhooks/github', '/docs'])(
    'does not serve %s',
    async (url) => {
      const [get, post] = [
        await operations.inject(url),
        await operations.inject({ method: 'POST', url, payload: {} }),
      ];
      expect([get.statusCode, post.statusCode]).toEqual([404, 404]);
      expect(get.body).not.toContain('db.internal');
    },
  );

  it('reveals nothing about an error', async () => {
    const broken = await buildOperations({
      readiness: () => Promise.reject(new Error('password hunter2')),
      metrics: createPrometheusMetrics({ ofProcess: false }),
      logger: createRecordingLogger(lines),
    });
    const answer = await broken.inject('/readyz');
    await broken.close();
    expect([answer.statusCode, answer.body.includes('hunter2')]).toEqual([500, false]);
  });
});
