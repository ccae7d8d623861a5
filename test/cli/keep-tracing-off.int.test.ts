import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LoopbackServer, sendJson, startLoopback } from '../support/loopback-server.ts';
import { THOROUGH } from '../support/thorough.ts';
import { runFaultlineProcess } from './faultline.ts';

const SECRET = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
const LOG = join(mkdtempSync(join(tmpdir(), 'faultline-tracing-')), 'build.log');
writeFileSync(
  LOG,
  `FAIL src/cart.test.ts\nError: the customer Wintermute has no cart, asked with ${SECRET}\n`,
);

let service: LoopbackServer;
let bodies: Buffer[];
beforeEach(async () => {
  bodies = [];
  service = await startLoopback((request, response) => {
    const pieces: Buffer[] = [];
    request
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('end', () => {
        const body = Buffer.concat(pieces);
        bodies.push(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body);
        sendJson(response, 200, {});
      });
  });
});
afterEach(() => service.close());

const tracing = () => ({
  LANGSMITH_TRACING: 'true',
  LANGSMITH_API_KEY: 'lsv2_pt_of_the_test',
  LANGSMITH_ENDPOINT: service.url,
});

describe('variables of LangChain in the environment', () => {
  const prefixes: [string, string[]][] = [
    ['LANGCHAIN', ['LANGCHAIN_TRACING', 'LANGCHAIN_TRACING_V2']],
    ['LANGSMITH', ['LANGSMITH_TRACING_V2']],
  ];
  it.each(THOROUGH ? prefixes : prefixes.slice(0, 1))(
    'that remain from another project (%s) send nothing',
    async (prefix, switches) => {
      const on = Object.fromEntries(switches.map((name) => [name, 'true']));
      const env = {
        ...on,
        [`${prefix}_API_KEY`]: 'lsv2_pt_of_the_test',
        [`${prefix}_ENDPOINT`]: service.url,
      };
      const ended = await runFaultlineProcess(['triage', LOG, '--json'], { env });
      expect(ended.code).toBe(0);
      expect(service.requests).toEqual([]);
    },
  );

  it('do not print prompts among the results', async () => {
    const ended = await runFaultlineProcess(['triage', LOG, '--json'], {
      env: { LANGCHAIN_VERBOSE: 'true', LANGCHAIN_CALLBACKS_BACKGROUND: 'false' },
    });
    expect(JSON.parse(ended.stdout)).toMatchObject({ ok: true });
  });
});

describe('LANGSMITH_TRACING=true', () => {
  it('sends the trace of the run, without secrets, and says so', async () => {
    const ended = await runFaultlineProcess(['triage', LOG, '--json'], { env: tracing() });
    expect(ended.code).toBe(0);
    expect(ended.stderr).toMatch(
      /^LANGSMITH_TRACING=true: excerpts of logs, prompts and answers, with secrets masked, are sent to LangSmith at 127\.0\.0\.1/m,
    );
    const sent = Buffer.concat(bodies).toString();
    expect(service.requests.some(({ headers }) => headers['x-api-key'] === 'lsv2_pt_of_the_test')).toBe(true);
    expect(sent).toContain('Wintermute');
    expect(sent).toContain('generate_answer');
    expect(sent).not.toContain(SECRET);
    expect(sent).not.toContain('lsv2_pt_of_the_test');
  });

  it('sends nothing, and says so, if FAULTLINE_TRACING=off remains from an earlier release', async () => {
    const ended = await runFaultlineProcess(['triage', LOG, '--json'], {
      env: { ...tracing(), FAULTLINE_TRACING: 'off' },
    });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('FAULTLINE_TRACING is no longer a setting');
    expect(service.requests).toEqual([]);
  });

  it('is not mentioned by commands that send nothing', async () => {
    expect((await runFaultlineProcess(['--help'], { env: tracing() })).stderr).not.toContain('LangSmith');
  });
});
