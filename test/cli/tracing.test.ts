import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSpanReceiver } from '../support/span-receiver.ts';
import { runFaultline } from './faultline.ts';

const LOG = join(mkdtempSync(join(tmpdir(), 'faultline-spans-')), 'build.log');
writeFileSync(LOG, 'FAIL src/cart.test.ts\nError: the customer Wintermute has no cart\n');

let collector: Awaited<ReturnType<typeof startSpanReceiver>>;
beforeEach(async () => {
  collector = await startSpanReceiver();
});
afterEach(async () => collector.close());

describe('faultline triage --trace', () => {
  it('shows every step, without escapes in a pipe', async () => {
    const { stdout, code } = await runFaultline(['triage', LOG, '--trace']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Trace\t/m);
    expect(stdout).toMatch(/^Judgment\tclassify by rules/m);
    expect(stdout).toMatch(/^Tool\tsearch_knowledge /m);
    expect(stdout).toMatch(/^Total\t/m);
    expect(stdout).not.toContain('\u001b');
  });

  it('adds the trace to the document with --json', async () => {
    const { stdout } = await runFaultline(['triage', LOG, '--trace', '--json']);
    const { ok, analyses, traces } = JSON.parse(stdout);
    expect(ok).toBe(true);
    expect(traces[0]).toMatchObject({ analysisId: analyses[0].id, totals: { modelCalls: 0 } });
  });
});

describe('spans of a run', () => {
  it('are sent to the receiver with its key and without any text of the log', async () => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=of-the-collector',
    };
    const { code } = await runFaultline(['triage', LOG, '--json'], { env });

    expect(code).toBe(0);
    expect(collector.requests[0]).toMatchObject({
      path: '/v1/traces',
      headers: { 'x-key': 'of-the-collector' },
    });
    const run = collector.spans().find(({ name }) => name === 'invoke_agent triage');
    expect(run?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'triage',
    });
    const tools = collector.spans().filter(({ name }) => name.startsWith('execute_tool '));
    expect(tools.map(({ name }) => name)).toContain('execute_tool search_knowledge');
    for (const { parentSpanId } of tools) expect(parentSpanId).toBe(run?.spanId);
    expect(collector.text()).not.toContain('Wintermute');
  });

  it('do not affect the answer if no server accepts them', async () => {
    const { code, stdout } = await runFaultline(['triage', LOG, '--json'], {
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' },
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true });
  });
});
