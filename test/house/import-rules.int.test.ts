import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

/** One planted violation a rule: the file that offends, and what it imports. */
const PLANTED: Readonly<Record<string, { file: string; imports: string }>> = {
  'no-circular': { file: 'src/domain/chicken.ts', imports: './egg.ts' },
  'no-unresolvable': { file: 'src/domain/lost.ts', imports: './nowhere.ts' },
  'no-orphans': { file: 'src/domain/alone.ts', imports: '' },
  'domain-imports-lib': { file: 'src/domain/greedy.ts', imports: '../ports/target.ts' },
  'lib-imports-nothing': { file: 'src/lib/greedy.ts', imports: '../domain/target.ts' },
  'git-imports-domain': { file: 'src/git/greedy.ts', imports: '../ports/target.ts' },
  'ports-import-domain': { file: 'src/ports/greedy.ts', imports: '../log/target.ts' },
  'log-imports-domain': { file: 'src/log/greedy.ts', imports: '../ports/target.ts' },
  'config-stands-alone': { file: 'src/config/greedy.ts', imports: '../ports/target.ts' },
  'graphs-see-domain-and-ports': { file: 'graphs/triage/greedy.ts', imports: '../../src/log/target.ts' },
  'prompts-see-domain-and-ports': { file: 'prompts/greedy.ts', imports: '../src/log/target.ts' },
  'tools-see': { file: 'src/tools/greedy.ts', imports: '../service/target.ts' },
  'experiments-see': { file: 'src/experiments/greedy.ts', imports: '../service/target.ts' },
  'judge-sees': { file: 'src/judge/greedy.ts', imports: '../service/target.ts' },
  'models-see': { file: 'src/models/chat/greedy.ts', imports: '../../service/target.ts' },
  'stores-see': { file: 'src/stores/greedy.ts', imports: '../service/target.ts' },
  'adapters-see': { file: 'src/adapters/logger/greedy.ts', imports: '../../service/target.ts' },
  'notifications-see': { file: 'src/notifications/greedy.ts', imports: '../service/target.ts' },
  'channels-see': { file: 'src/channels/greedy.ts', imports: '../service/target.ts' },
  'channels-load-lazily': { file: 'src/channels/hasty.ts', imports: './slack/client.ts' },
  'providers-see': { file: 'src/providers/greedy.ts', imports: '../service/target.ts' },
  'work-sees': { file: 'src/work/greedy.ts', imports: '../service/target.ts' },
  'service-runs-the-graph': { file: 'src/service/greedy.ts', imports: '../api/target.ts' },
  'console-sees': { file: 'src/console/greedy.ts', imports: '../api/target.ts' },
  'mcp-sees': { file: 'src/mcp/greedy.ts', imports: '../api/target.ts' },
  'api-sees': { file: 'src/api/greedy.ts', imports: '../stores/database/target.ts' },
  'replay-drives-triage': { file: 'src/replay/greedy.ts', imports: '../api/target.ts' },
  'action-sees': { file: 'action/src/greedy.ts', imports: '../../src/api/target.ts' },
  'app-composes': { file: 'src/app.ts', imports: './api/target.ts' },
  'api-knows-the-app-by-type': { file: 'src/api/knowing.ts', imports: '../app.ts' },
  'replay-stands-apart': { file: 'src/app/replaying.ts', imports: '../replay/tested.ts' },
  'replay-loads-lazily': { file: 'src/cli/hasty.ts', imports: '../replay/tested.ts' },
  'prompts-only-for-graphs-and-analysts': {
    file: 'src/models/embedder/greedy.ts',
    imports: '../../../prompts/target.ts',
  },
  'one-node-one-file': { file: 'graphs/triage/nodes/one.ts', imports: './two.ts' },
  'tools-do-not-call-tools': { file: 'src/tools/read-one.ts', imports: './search-two.ts' },
  'providers-do-not-know-each-other': {
    file: 'src/providers/github/nosy.ts',
    imports: '../jenkins/provider.ts',
  },
  'only-the-registry-picks-providers': {
    file: 'src/service/picky.ts',
    imports: '../providers/jenkins/provider.ts',
  },
  'providers-load-lazily': { file: 'src/providers/github/provider.ts', imports: './client.ts' },
  'drivers-do-not-call-drivers': {
    file: 'src/models/embedder/nosy.ts',
    imports: '../../stores/database/target.ts',
  },
  'only-app-picks-drivers': { file: 'src/cli/picky.ts', imports: '../stores/database/target.ts' },
  'stores-are-known-by-type': { file: 'src/service/opening.ts', imports: '../stores/target.ts' },
  'drivers-load-lazily': { file: 'src/app.ts', imports: './stores/database/target.ts' },
  'nothing-imports-cli': { file: 'src/replay/upward.ts', imports: '../cli/target.ts' },
  'nothing-imports-test': { file: 'src/replay/tested.ts', imports: '../../test/target.ts' },
  'langgraph-in-graphs': { file: 'src/service/vendor.ts', imports: '@langchain/langgraph' },
  'langchain-in-model-adapters': { file: 'src/service/vendor-langchain.ts', imports: '@langchain/openai' },
  'fastify-in-api-and-pages': { file: 'src/tools/vendor.ts', imports: 'fastify' },
  'services-in-adapters': { file: 'src/service/vendor-pg.ts', imports: 'pg' },
  'queue-in-work': { file: 'src/service/vendor-bullmq.ts', imports: 'bullmq' },
  'cookies-in-api': { file: 'src/service/vendor-cookie.ts', imports: 'cookie' },
  'openid-in-identity': { file: 'src/service/vendor-openid.ts', imports: 'openid-client' },
  'slack-in-its-client': { file: 'src/notifications/vendor-slack.ts', imports: '@slack/web-api' },
  'mail-in-its-client': { file: 'src/service/vendor-mail.ts', imports: 'nodemailer' },
  'parsers-in-log': { file: 'src/service/vendor-saxes.ts', imports: 'saxes' },
  'cockatiel-in-resilience': { file: 'src/tools/vendor-cockatiel.ts', imports: 'cockatiel' },
  'patterns-of-people': { file: 'src/service/vendor-re2js.ts', imports: 're2js' },
  'command-line-in-cli': { file: 'src/service/vendor-commander.ts', imports: 'commander' },
  'document-parsers-in-reader': { file: 'src/tools/vendor-mammoth.ts', imports: 'mammoth' },
  'html-parser-behind-one-walk': { file: 'src/tools/vendor-parse5.ts', imports: 'parse5' },
  'octokit-in-github': { file: 'src/providers/jenkins/vendor-octokit.ts', imports: '@octokit/rest' },
  'agents-protocol-in-mcp': {
    file: 'src/service/vendor-mcp.ts',
    imports: '@modelcontextprotocol/server',
  },
  'pino-in-logger': { file: 'src/service/vendor-pino.ts', imports: 'pino' },
  'opentelemetry-in-tracer': { file: 'src/service/vendor-opentelemetry.ts', imports: '@opentelemetry/api' },
  'prometheus-in-metrics': { file: 'src/service/vendor-prometheus.ts', imports: 'prom-client' },
};
const TARGETS = [
  ...['domain', 'ports', 'log', 'service', 'api', 'cli', 'stores', 'stores/database'].map(
    (folder) => `src/${folder}/target.ts`,
  ),
  'prompts/target.ts',
  'test/target.ts',
  'graphs/triage/nodes/two.ts',
  'src/tools/search-two.ts',
  'src/providers/jenkins/provider.ts',
  'src/providers/github/client.ts',
  'src/channels/slack/client.ts',
];
const Violations = z.object({
  summary: z.object({
    violations: z.array(z.object({ from: z.string(), rule: z.object({ name: z.string() }) })),
  }),
});

const root = resolve(import.meta.dirname, '../..');
const configFile = '.dependency-cruiser.cjs';
let folder = '';
let found: { from: string; rule: { name: string } }[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'faultline-rules-'));
  cpSync(join(root, configFile), join(folder, configFile));
  cpSync(join(root, 'tsconfig.json'), join(folder, 'tsconfig.json'));
  for (const { imports } of Object.values(PLANTED)) {
    if (imports === '' || imports.startsWith('.')) continue;
    plant(
      `node_modules/${imports}/package.json`,
      JSON.stringify({ name: imports, version: '1.0.0', main: 'index.js' }),
    );
    plant(`node_modules/${imports}/index.js`, 'exports.planted = 1;\n');
  }
  for (const file of TARGETS) plant(file, 'export const target = 1;\n');
  plant('src/domain/egg.ts', `import './chicken.ts';\n`);
  const bodies = new Map<string, string>();
  for (const { file, imports } of Object.values(PLANTED))
    bodies.set(file, `${bodies.get(file) ?? ''}${imports === '' ? '' : `import '${imports}';\n`}`);
  for (const [file, body] of bodies) plant(file, `${body}export const planted = 1;\n`);
  const cruise = join(root, 'node_modules/.bin/depcruise');
  const run = spawnSync(
    cruise,
    ['--config', configFile, '--output-type', 'json', 'src', 'graphs', 'prompts', 'action'],
    {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 1e8,
    },
  );
  found = Violations.parse(JSON.parse(run.stdout)).summary.violations;
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function plant(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

describe('the import rules', () => {
  it('have a planted violation for each rule', () => {
    const config: unknown = createRequire(import.meta.url)(join(root, configFile));
    const { forbidden } = z.object({ forbidden: z.array(z.object({ name: z.string() })) }).parse(config);
    expect(Object.keys(PLANTED).sort()).toEqual(forbidden.map((rule) => rule.name).sort());
  });

  it.each(Object.entries(PLANTED))('%s finds its planted violation', (name, { file }) => {
    expect(
      found.filter((violation) => violation.rule.name === name).map((violation) => violation.from),
    ).toContain(file);
  });

  it('fail the check if a source file was not read', () => {
    const run = spawnSync(process.execPath, [join(root, 'scripts/parts/check/check-imports.ts')], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(run.status).toBe(1);
    expect(execFileSync(process.execPath, ['--version'], { encoding: 'utf8' })).toMatch(/^v2[4-9]/);
  });
});
