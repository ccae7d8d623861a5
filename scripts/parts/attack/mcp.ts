/**
 * Attacks the Model Context Protocol with its official Python client and its inspector, and with invalid
 * messages.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { LOG, readAcceptedId, upload, waitForAnswers } from './shared/builds.ts';
import { type AttackedService, reportService, startService } from './shared/service.ts';
import { installNpmTools, installPythonTools, report, run } from './shared/tools.ts';

/** Text from the line that fails. */
const WORD = 'discount';
const Answered = z.object({ error: z.object({ code: z.int() }), id: z.null() });

const service = await startService();
try {
  const build = await readAcceptedId(await upload(service, { number: 812, log: LOG }));
  await waitForAnswers(service, build);
  const fine = [
    await attackInPython(service, build),
    await inspect(service),
    await sendBroken(service),
    reportService(service),
  ];
  process.exitCode = fine.every(Boolean) ? 0 : 1;
} finally {
  await service.stop();
}

async function attackInPython({ url, token }: AttackedService, build: string): Promise<boolean> {
  const packages = await installPythonTools('python-mcp', ['mcp==2.3.0']);
  const given = { URL: url, TOKEN: token, BUILD: build, WORD, NODE: process.execPath };
  const env = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [`FAULTLINE_ATTACK_${name}`, value]),
  );
  const { code, stdout, stderr } = await run('python3', ['scripts/parts/attack/shared/mcp-client.py'], {
    env: { ...env, PYTHONPATH: packages },
    minutes: 5,
  });
  return report(
    'Python client',
    stdout.trim().split('\n').slice(0, 4).join('; '),
    code === 0 ? 0 : 1,
    stdout + stderr,
  );
}

async function inspect({ url, token }: AttackedService): Promise<boolean> {
  const programs = await installNpmTools('inspector', ['@modelcontextprotocol/inspector@2.12.0']);
  const methods = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'];
  const failed: string[] = [];
  for (const method of methods) {
    const args = [
      '--cli',
      `${url}/mcp`,
      '--transport',
      'http',
      '--header',
      `Authorization: Bearer ${token}`,
      '--method',
      method,
    ];
    // With --strict, parts of a tool's schema that other clients could not read also fail.
    const strict = method === 'tools/list' ? ['--strict'] : [];
    const env = { MCP_CATALOG_PATH: join(programs, '../catalog.json') };
    const { code, stdout, stderr } = await run(join(programs, 'mcp-inspector'), [...args, ...strict], {
      env,
      minutes: 2,
    });
    const [listed] = Object.values(
      z.record(z.string(), z.array(z.unknown())).safeParse(code === 0 ? JSON.parse(stdout) : {}).data ?? {},
    );
    if (listed === undefined || listed.length === 0) failed.push(`${method}: ${stdout}${stderr}`);
  }
  return report(
    'inspector',
    `${methods.length} methods, ${failed.length} failed`,
    failed.length,
    failed.join('\n'),
  );
}

/** Checks that invalid messages are refused in the form of JSON-RPC. */
async function sendBroken({ url, token }: AttackedService): Promise<boolean> {
  const bodies: readonly (readonly [string, number])[] = [
    ['', -32700],
    ['{', -32700],
    ['{"jsonrpc": "2.0", "id": 1, "method": }', -32700],
    ['null', -32600],
    ['[]', -32600],
    ['{"id": 1, "method": "ping"}', -32600],
    ['{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600],
    ['{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600],
  ];
  const failed: string[] = [];
  for (const [body, code] of bodies) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}/mcp`, { method: 'POST', headers, body });
    const answer = await response.text();
    const told = Answered.safeParse(JSON.parse(answer)).data?.error.code;
    if (response.status !== 400 || told !== code) failed.push(`${body}: ${response.status} ${answer}`);
  }
  return report(
    'broken messages',
    `${bodies.length} sent, ${failed.length} not refused in JSON-RPC`,
    failed.length,
    failed.join('\n'),
  );
}
