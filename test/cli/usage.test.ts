import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { runFaultline } from './faultline.ts';

describe('a usage error', () => {
  it.each([
    ['no command', [], /^Usage: faultline/],
    ['an unknown command', ['triaje'], /unknown command 'triaje'.*\(Did you mean triage\?\)/s],
    [
      'an unknown command of a command',
      ['review', 'bogus'],
      /unknown command 'bogus'\n\(run faultline review --help for usage\)/,
    ],
    [
      'an unknown option',
      ['triage', 'x', '--bogus'],
      /unknown option '--bogus'\n\(run faultline triage --help for usage\)/,
    ],
    [
      'a missing argument',
      ['review', 'show'],
      /missing required argument 'id'\n\(run faultline review show --help/,
    ],
    ['a wrong number', ['triage', 'x', '--budget', '0'], /whole number of at least 1/],
    ['options that exclude each other', ['triage', 'x', '--json', '--github'], /cannot be used with/],
  ])(
    '(%s) exits with 2, and prints the reason and how to get help to standard error',
    async (_name, args, sentence) => {
      const ended = await runFaultline(args);
      expect(ended.code).toBe(2);
      expect(ended.stderr).toMatch(sentence);
      if (!args.includes('--json')) expect(ended.stdout).toBe('');
    },
  );

  it('is reported as JSON if JSON was requested', async () => {
    const ended = await runFaultline(['read', '--json']);
    expect(ended.code).toBe(2);
    expect(JSON.parse(ended.stdout)).toEqual({
      ok: false,
      schema: 1,
      error: { code: 'usage', message: "missing required argument 'input'" },
    });
  });

  it('in an environment variable names the variable', async () => {
    const ended = await runFaultline(['triage', 'x'], { env: { FAULTLINE_PORT: '70000' } });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('FAULTLINE_PORT (http.port)');
  });
});

describe('help', () => {
  it('of every command exits with 0 and explains every option', async () => {
    const ended = await runFaultline(['help', 'review']);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    for (const command of listCommands(createProgram())) {
      expect(command.description()).toMatch(/^[A-Z].*\.$/);
      for (const { description } of command.options) expect(description).not.toBe('');
    }
  });

  it('59: shows how to use triage and serve', async () => {
    for (const [command, example] of [
      ['triage', 'gh run view 812 --log-failed | faultline triage -'],
      ['serve', 'faultline serve --demo'],
    ] as const)
      expect((await runFaultline([command, '--help'])).stdout).toContain(example);
  });

  it('names the version of the package', () => {
    const { version } = JSON.parse(
      readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8'),
    ) as { version: string };
    expect(createProgram().version()).toBe(version);
  });
});

describe('commands without a running service', () => {
  it('59: explain what to do, and exit with 4', async () => {
    const ended = await runFaultline(['review', 'list', '--url', 'http://127.0.0.1:9', '--token', 'x']);
    expect(ended).toMatchObject({ code: 4, stdout: '' });
    expect(ended.stderr).toMatch(/Cannot reach Faultline at http:\/\/127\.0\.0\.1:9 .*faultline serve/);
  });
});

function listCommands(command: ReturnType<typeof createProgram>): ReturnType<typeof createProgram>[] {
  return [
    command,
    ...command.commands.flatMap((child) => listCommands(child as ReturnType<typeof createProgram>)),
  ];
}
