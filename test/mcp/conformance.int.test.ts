import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { installNpmTools, run } from '../../scripts/parts/attack/shared/tools.ts';
import { type LoopbackServer, startLoopback } from '../support/loopback-server.ts';
import { HEADERS, startTestService, type TestService, uploadAndWait } from '../support/test-service.ts';
import { PROTOCOLS } from './agent.ts';
import { NOT_APPLICABLE } from './not-applicable.ts';

/** The first release with what 2026-07-28 requires; the newest one without it is 0.1.16. */
const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const Checks = z.array(z.object({ id: z.string(), status: z.string() }));

let service: TestService;
let authorized: LoopbackServer;
let folder: string;
beforeAll(async () => {
  service = await startTestService(0.5);
  await uploadAndWait(service, 'shop/api', 812, ['src/tax.ts(12,5): error TS2304: Cannot find name "rate".']);
  const { port } = new URL(await service.http.listen({ host: '127.0.0.1', port: 0 }));
  // The suite sends no token, so one is added on the way.
  authorized = await startLoopback((asked, answered) => {
    const { url: path = '/', method = 'GET', headers } = asked;
    const passed = send({ port, path, method, headers: { ...headers, ...HEADERS } }, (answer) => {
      answered.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(answered);
    });
    asked.pipe(passed);
  });
  folder = await mkdtemp(join(tmpdir(), 'faultline-conformance-'));
});
afterAll(async () => {
  await authorized.close();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

test.each(PROTOCOLS)('the MCP server conforms to %s, except where it does not apply', async (version) => {
  const programs = await installNpmTools('conformance', [SUITE]);
  const output = join(folder, version);
  const where = ['--url', `${authorized.url}/mcp`, '--requirements', version, '-o', output];
  await run(process.execPath, [join(programs, 'conformance'), 'server', ...where], { minutes: 10 });

  const checks = await readChecks(output);
  const listPassed = (status: string) => checks.filter((check) => check.status === status);
  const failed = listPassed('FAILURE').map(({ name }) => name);
  process.stdout.write(
    `${version}: ${listPassed('SUCCESS').length} checks passed, ${failed.length} do not apply\n`,
  );
  expect(failed.toSorted()).toEqual(Object.values(NOT_APPLICABLE[version]).flat().toSorted());
});

/** Reads every check of a run as `scenario/check`. */
async function readChecks(output: string) {
  const scenarios = await readdir(output);
  const read = scenarios.map(async (scenario) => {
    const checks = Checks.parse(JSON.parse(await readFile(join(output, scenario, 'checks.json'), 'utf8')));
    const name = scenario.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    return checks.map(({ id, status }) => ({ name: `${name}/${id}`, status }));
  });
  return (await Promise.all(read)).flat();
}
