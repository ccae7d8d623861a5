import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createPrometheusMetrics } from '../../../src/adapters/metrics/prometheus.ts';
import { METRICS, silentMetrics } from '../../../src/ports/telemetry.ts';

const make = (options = {}) => createPrometheusMetrics({ ofProcess: false, freshMs: 0, ...options });
const readBody = async (metrics: ReturnType<typeof make>) => (await metrics.text()).body;
/** Lines that are values. */
const series = (body: string) => body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

describe('Prometheus metrics', () => {
  it('are counted and observed under their names and labels', async () => {
    const metrics = make();
    metrics.count('faultline_failures_total', { source: 'github', category: 'CODE_ERROR' });
    metrics.count('faultline_failures_total', { source: 'github', category: 'CODE_ERROR' }, 2);
    metrics.observe('faultline_queue_wait_seconds', {}, 0.004);
    const body = await readBody(metrics);
    expect(body).toContain('faultline_failures_total{source="github",category="CODE_ERROR"} 3');
    expect(body).toContain('faultline_queue_wait_seconds_bucket{le="0.005"} 1');
    expect((await metrics.text()).contentType).toMatch(/^text\/plain; version=0\.0\.4/);
  });

  it('have no separate series for each value that a sender or a model invents', async () => {
    const metrics = make();
    for (let at = 0; at < 5_000; at += 1) {
      const made = `made-up-${at}"\n}`;
      metrics.count('faultline_llm_tokens_total', { direction: made, model: made });
      metrics.count('faultline_deliveries_total', { source: made, outcome: made });
      metrics.observe('http_request_duration_seconds', { method: made, route: made, status: made }, 1);
      metrics.observe('faultline_tool_latency_seconds', { tool: made, outcome: made }, 1);
      metrics.observe('faultline_webhook_to_answer_seconds', { category: made, analyst: made }, 1);
      metrics.count('faultline_failures_total', { source: made, category: made });
    }
    metrics.read('many', async () =>
      Array.from({ length: 5_000 }, (_, at) => ({
        name: 'faultline_breaker_open' as const,
        labels: { provider: `p${at}` },
        value: 1,
      })),
    );
    const lines = series(await readBody(metrics));
    const most = Object.values(METRICS).reduce((total, { labels, ...outline }) => {
      const values = Object.values(labels).reduce<number>(
        (product, allowed) => product * (1 + (typeof allowed === 'number' ? allowed : allowed.length)),
        1,
      );
      return total + values * ('buckets' in outline ? outline.buckets.length + 3 : 1);
    }, 0);
    expect(lines.length).toBeLessThan(most);
    expect(lines.length).toBeLessThan(5_000);
    expect(lines.every((line) => line.length < 300)).toBe(true);
    expect(lines.filter((line) => line.startsWith('faultline_deliveries_total'))).toEqual([
      'faultline_deliveries_total{source="other",outcome="other"} 5000',
    ]);
  });

  it('have only labels with a limited set of values', () => {
    const unbounded = Object.entries(METRICS).filter(([, { labels }]) =>
      Object.values<readonly string[] | number>(labels).some((allowed) =>
        typeof allowed === 'number' ? allowed > 120 : allowed.length > 20,
      ),
    );
    expect(unbounded).toEqual([]);
  });

  it('are not negative after a clock was set back', async () => {
    const metrics = make();
    metrics.observe('faultline_queue_wait_seconds', {}, -3600);
    metrics.observe('faultline_queue_wait_seconds', {}, Number.NaN);
    expect(await readBody(metrics)).toContain(
      'faultline_queue_wait_seconds_sum 0\nfaultline_queue_wait_seconds_count 1',
    );
  });
});

describe('a metric that is read on request', () => {
  it('is cached for a while', async () => {
    const metrics = make({ freshMs: 60_000 });
    let asked = 0;
    metrics.read('backlog', async () => {
      asked += 1;
      await sleep(5);
      return [{ name: 'faultline_queue_depth', labels: { state: 'queued' }, value: asked }];
    });
    const bodies = await Promise.all([readBody(metrics), readBody(metrics), readBody(metrics)]);
    bodies.push(await readBody(metrics));
    expect(asked).toBe(1);
    expect(bodies.every((body) => body.includes('faultline_queue_depth{state="queued"} 1'))).toBe(true);
  });

  it('is missing and counted as an error if reading fails; the others remain', async () => {
    const metrics = make();
    let broken = false;
    metrics.read('backlog', async () => {
      if (broken) throw new Error('secret of the database');
      return [{ name: 'faultline_review_pending', labels: {}, value: 7 }];
    });
    metrics.read('backends', async () => [
      { name: 'faultline_backend_up', labels: { backend: 'database' }, value: 0 },
    ]);
    expect(await readBody(metrics)).toContain('faultline_review_pending 7');
    broken = true;
    const body = await readBody(metrics);
    expect(series(body).some((line) => line.startsWith('faultline_review_pending'))).toBe(false);
    expect(body).toContain('faultline_backend_up{backend="database"} 0');
    expect(body).toContain('faultline_scrape_failures_total{reading="backlog"} 1');
    expect(body).not.toContain('secret of the database');
  });

  it('does not delay a scrape if reading hangs, and is not read a second time meanwhile', async () => {
    const metrics = make({ limitMs: 20 });
    let asked = 0;
    metrics.read('backlog', () => {
      asked += 1;
      return new Promise(() => undefined);
    });
    for (const scrape of [1, 2, 3])
      expect(await readBody(metrics)).toContain(
        `faultline_scrape_failures_total{reading="backlog"} ${scrape}`,
      );
    expect(asked).toBe(1);
  });
});

it('disabled metrics accept every call and output nothing', async () => {
  silentMetrics.count('faultline_retries_total', { of: 'model' });
  silentMetrics.observe('faultline_queue_wait_seconds', {}, 1);
  silentMetrics.read('nothing', async () => []);
  expect((await silentMetrics.text()).body).toBe('');
});

it('docs/reference/metrics.md documents every metric with its labels, and no other', async () => {
  const text = await readFile(join(import.meta.dirname, '../../../docs/reference/metrics.md'), 'utf8');
  const rows = [
    ...text.matchAll(/^\| `((?:faultline|http)_[a-z_]+)` \| ([a-z]+) \| ([^|]*) \| ([^|]+) \|$/gm),
  ].map(([, name, kind, labels, help]) => [name, kind, labels?.trim(), help?.trim()]);
  const expected = Object.entries(METRICS).map(([name, { kind, labels, help }]) => [
    name,
    kind,
    Object.keys(labels)
      .map((label) => `\`${label}\``)
      .join(', ') || '–',
    help,
  ]);
  expect(rows).toEqual(expected);
});
