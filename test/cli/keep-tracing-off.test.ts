import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LoopbackServer, sendJson, startLoopback } from '../support/loopback-server.ts';
import { faultline } from './faultline.ts';

const LOG = join(mkdtempSync(join(tmpdir(), 'faultline-tracing-')), 'build.log');
writeFileSync(LOG, 'FAIL src/cart.test.ts\nError: the customer Wintermute has no cart\n');

let service: LoopbackServer;
beforeEach(async () => {
  service = await startLoopback((request, response) => request.resume().on('end', () => sendJson(response, 200, {})));
});
afterEach(() => service.close());

/** What somebody who traces other projects has in the environment. */
function traced(prefix: 'LANGSMITH' | 'LANGCHAIN', switches: readonly string[]): Record<string, string> {
  const on = Object.fromEntries(switches.map((name) => [name, 'true']));
  return { ...on, [`${prefix}_API_KEY`]: 'lsv2_pt_of_the_test', [`${prefix}_ENDPOINT`]: service.url };
}

describe('variables of LangChain in the environment', () => {
  it.each([
    ['LANGSMITH', ['LANGSMITH_TRACING', 'LANGSMITH_TRACING_V2']],
    ['LANGCHAIN', ['LANGCHAIN_TRACING', 'LANGCHAIN_TRACING_V2']],
  ] as const)('of %s send nothing anywhere', async (prefix, switches) => {
    const ended = await faultline(['triage', LOG, '--json'], { env: traced(prefix, switches) });
    expect(ended.code).toBe(0);
    expect(service.requests).toEqual([]);
  });

  it('print no prompt among the results', async () => {
    const ended = await faultline(['triage', LOG, '--json'], {
      env: { LANGCHAIN_VERBOSE: 'true', LANGCHAIN_CALLBACKS_BACKGROUND: 'false' },
    });
    expect(JSON.parse(ended.stdout)).toMatchObject({ ok: true });
  });

  it('hold where FAULTLINE_TRACING=langsmith asks for them', async () => {
    const env = { ...traced('LANGSMITH', ['LANGSMITH_TRACING']), FAULTLINE_TRACING: 'langsmith', LANGCHAIN_CALLBACKS_BACKGROUND: 'false' };
    const ended = await faultline(['triage', LOG, '--json'], { env });
    expect(ended.code).toBe(0);
    expect(service.requests.length).toBeGreaterThan(0);
  });
});
