import { mkdtempSync, readFileSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { describeCommand, listEveryCommand } from '../../src/cli/completion.ts';
import { createProgram } from '../../src/cli/program.ts';
import { listAllTools } from '../../src/mcp/server.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { createInstallation } from '../mcp/world.ts';
import { runFaultline } from './faultline.ts';

const NAME = 'ci-triage';
const TEXT = readFileSync(resolve(import.meta.dirname, `../../skills/${NAME}/SKILL.md`), 'utf8');

function createFolder(): string {
  return mkdtempSync(join(tmpdir(), 'faultline-skill-'));
}

it('the skill has the front matter that Agent Skills require: its folder as name, and a short description', () => {
  const [, head = ''] = TEXT.split(/^---$/m);
  expect(/^name: (.+)$/m.exec(head)?.[1]).toBe(NAME);
  const description = /^description: (.+)$/m.exec(head)?.[1] ?? '';
  expect(description.length).toBeGreaterThan(50);
  expect(description.length).toBeLessThanOrEqual(1024);
  expect(TEXT.split('\n').length).toBeLessThan(500);
});

it('the skill names only commands, options and tools that exist', () => {
  const commands = new Map(
    listEveryCommand(describeCommand(createProgram())).map((command) => [command.path, command]),
  );
  const lines = [...TEXT.matchAll(/^(?:.*\| )?(faultline [a-z-]+)(.*)$/gm)];
  expect(lines.length).toBeGreaterThan(4);
  for (const [, path = '', rest = ''] of lines) {
    const known = commands.get(path)?.options.flatMap(({ names }) => names);
    const [ours = ''] = rest.split(' -- ');
    for (const [option] of ours.matchAll(/--[a-z-]+/g)) expect(known, `${path} ${option}`).toContain(option);
  }
  const explainLog = () => Promise.reject(new Error('not asked here'));
  const tools = listAllTools({ installation: createInstallation(), explainLog, logger: silentLogger }).map(
    ({ name }) => name,
  );
  const mentioned = [...TEXT.matchAll(/`([a-z]+_[a-z]+)`/g)].map(([, name]) => name);
  for (const name of mentioned.filter((name) => name !== 'auto_notify' && name !== 'submit_feedback'))
    expect(tools).toContain(name);
});

it('the skill is installed into a directory of skills, and again without a change', async () => {
  const dir = createFolder();
  const first = await runFaultline(['skill', 'install', '--dir', dir, '--json']);
  const path = join(dir, NAME, 'SKILL.md');
  expect(JSON.parse(first.stdout)).toEqual({ ok: true, outcome: 'installed', path });
  expect(readFileSync(path, 'utf8')).toBe(TEXT);
  const second = await runFaultline(['skill', 'install', '--dir', dir]);
  expect(second.stdout).toBe(`${path} is up to date.\n`);
});

it('the skill replaces a different file only with --force', async () => {
  const dir = createFolder();
  await runFaultline(['skill', 'install', '--dir', dir]);
  const path = join(dir, NAME, 'SKILL.md');
  writeFileSync(path, 'our own words');
  const refused = await runFaultline(['skill', 'install', '--dir', dir]);
  expect(refused.code).toBe(4);
  expect(refused.stderr).toBe(`error: ${path} has another text. --force replaces it.\n`);
  expect(readFileSync(path, 'utf8')).toBe('our own words');
  expect((await runFaultline(['skill', 'install', '--dir', dir, '--force'])).code).toBe(0);
  expect(readFileSync(path, 'utf8')).toBe(TEXT);
});

it('the skill replaces a symbolic link, but never its target', async () => {
  const dir = createFolder();
  await runFaultline(['skill', 'install', '--dir', dir]);
  const elsewhere = join(createFolder(), 'profile');
  writeFileSync(elsewhere, 'private');
  const path = join(dir, NAME, 'SKILL.md');
  unlinkSync(path);
  symlinkSync(elsewhere, path);
  expect((await runFaultline(['skill', 'install', '--dir', dir, '--force'])).code).toBe(0);
  expect(readFileSync(elsewhere, 'utf8')).toBe('private');
  expect(statSync(path).isFile()).toBe(true);
  expect(readFileSync(path, 'utf8')).toBe(TEXT);
});

it('skill refuses two targets, and can print the skill', async () => {
  const both = await runFaultline(['skill', 'install', '--dir', createFolder(), '--user']);
  expect(both.code).toBe(2);
  expect(both.stderr).toBe('error: --dir and --user name two places. Use one of them.\n');
  expect((await runFaultline(['skill', 'show'])).stdout).toBe(TEXT);
});
