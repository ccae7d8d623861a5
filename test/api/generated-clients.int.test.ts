import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import openapiTypes, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installPythonTools, run } from '../../scripts/parts/attack/shared/tools.ts';
import { HEADERS, startTestService, type TestService, uploadAndWait } from '../support/test-service.ts';

const PROGRAMS = join(import.meta.dirname, 'generated-clients');
const MODULES = resolve(import.meta.dirname, '../../node_modules');
const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const PYTHON_PACKAGES = ['openapi-python-client==0.29.1', 'ruff==0.14.9'];
const TOKEN = HEADERS.authorization.replace('Bearer ', '');

let service: TestService;
let folder: string;
let args: string[];
let expected: object;
beforeAll(async () => {
  service = await startTestService(0.5);
  folder = await mkdtemp(join(tmpdir(), 'faultline-clients-'));
  const { buildId, category, answer } = await uploadAndWait(service, 'shop/api', 812, [
    'src/tax.ts(12,5): error TS2304: Cannot find name "rate".',
  ]);
  expected = { category, title: answer.title, refused: 'unauthenticated' };
  const address = await service.http.listen({ host: '127.0.0.1', port: 0 });
  args = [address, TOKEN, buildId];
  await writeFile(join(folder, 'openapi.json'), (await service.http.inject('/openapi.json')).body);
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a program, which must succeed, and returns what it printed. */
async function runToSuccess(...[program, given, options]: Parameters<typeof run>): Promise<string> {
  const { code, stdout, stderr } = await run(program, given, options);
  if (code !== 0) throw new Error(`${program} ${given.join(' ')} ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}

test('TypeScript: the client of openapi-typescript works', async () => {
  const cwd = join(folder, 'typescript');
  await mkdir(cwd);
  await symlink(MODULES, join(cwd, 'node_modules'));
  await writeFile(join(cwd, 'package.json'), '{"type":"module"}');
  await writeFile(
    join(cwd, 'schema.d.ts'),
    astToString(await openapiTypes(new URL(`file://${folder}/openapi.json`))),
  );
  await writeFile(join(cwd, 'ask.mts'), TYPESCRIPT);
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
  await runToSuccess(join(MODULES, '.bin/tsc'), [...options, 'ask.mts'], { cwd });

  expect(JSON.parse(await runToSuccess(process.execPath, ['ask.mts', ...args], { cwd }))).toEqual(expected);
});

test('Python: the client of openapi-python-client works', async () => {
  const packages = resolve(await installPythonTools('openapi-client', PYTHON_PACKAGES));
  const env = { PYTHONPATH: `${packages}:${folder}`, PATH: `${packages}/bin:${process.env.PATH}` };
  const generate = ['generate', '--path', 'openapi.json', '--output-path', 'faultline', '--meta', 'none'];
  await runToSuccess(join(packages, 'bin/openapi-python-client'), generate, { cwd: folder, env });

  const said = await runToSuccess('python3', [join(PROGRAMS, 'ask.py'), ...args], { cwd: folder, env });
  expect(JSON.parse(said)).toEqual(expected);
});

test('Go: the client of oapi-codegen works', async () => {
  const cwd = join(folder, 'go');
  await mkdir(join(cwd, 'faultline'), { recursive: true });
  const generate = ['-generate', 'types,client', '-package', 'faultline', '-o', 'faultline/client.go'];
  await runToSuccess('go', ['run', OAPI_CODEGEN, ...generate, '../openapi.json'], { cwd });
  await cp(join(PROGRAMS, 'main.go'), join(cwd, 'main.go'));
  await runToSuccess('go', ['mod', 'init', 'example.test/client'], { cwd });
  await runToSuccess('go', ['mod', 'tidy'], { cwd });

  expect(JSON.parse(await runToSuccess('go', ['run', '.', ...args], { cwd }))).toEqual(expected);
});

/** The program in TypeScript. It is no file, because its types are made by the test. */
const TYPESCRIPT = `import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';

const [address = '', token = '', build = ''] = process.argv.slice(2);
const open = (bearer: string) =>
  createClient<paths>({ baseUrl: address, headers: { authorization: \`Bearer \${bearer}\` } });
const found = await open(token).GET('/api/builds/{id}/analyses', { params: { path: { id: build } } });
const refused = await open('another').GET('/api/builds');
const answer: components['schemas']['AnsweredAnalysis'] | undefined = found.data?.analyses[0];
console.log(
  JSON.stringify({
    category: answer?.category,
    title: answer?.answer.title,
    refused: refused.error?.error.code,
  }),
);
`;
