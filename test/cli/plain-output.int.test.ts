import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { THOROUGH } from '../support/thorough.ts';
import { runFaultline } from './faultline.ts';

const MAIN = resolve(import.meta.dirname, '../../src/cli/main.ts');
const ESC = '\u001b';
const folder = mkdtempSync(join(tmpdir(), 'faultline-plain-'));
const hostile = join(folder, 'hostile.log');
writeFileSync(
  hostile,
  `start\n${ESC}]0;owned\u0007${ESC}[2J::error::forged\n##[error]Error: ${ESC}[31mboom\u202e at src/a.ts:3\u0000\nprocess exited with code 1\n`,
);

/** On a terminal of its own, as `script` gives one. */
function runOnTerminal(args: readonly string[], environment: Readonly<Record<string, string>> = {}): string {
  const command = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ');
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, TERM: 'xterm', ...environment };
  const { status, stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
    encoding: 'utf8',
    env,
    input: '',
  });
  expect(status).toBe(0);
  return stdout;
}

describe('the output of triage', () => {
  it.each([
    [['triage', hostile]],
    [['triage', hostile, '--plain']],
    [['triage', hostile, '--json']],
    [['triage', hostile, '--github']],
    [['read', hostile]],
  ])('piped as %j contains no escapes of the log and none of ours', async (args) => {
    const { stdout, stderr } = await runFaultline(args);
    expect(`${stdout}${stderr}`).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/);
    expect(stdout).not.toMatch(/^::error::forged/m);
  });

  const ways: [string, string[], Record<string, string>][] = [
    ['--plain', ['--plain'], {}],
    ['NO_COLOR', [], { NO_COLOR: '1' }],
    ['TERM=dumb', [], { TERM: 'dumb' }],
  ];
  it.each(THOROUGH ? ways : ways.slice(0, 1))(
    'on a terminal with %s has Key<tab>value lines, no escapes, and nothing redrawn',
    (_name, options, environment) => {
      const shown = runOnTerminal(['triage', hostile, ...options], environment);
      expect(shown).not.toContain(ESC);
      expect(shown).toMatch(/^Category\t[A-Z_]+\r?$/m);
      expect(shown).toMatch(/^classify /m);
    },
  );

  it('on a terminal has the formatted block in our colors, without the escapes of the log', () => {
    const shown = runOnTerminal(['triage', hostile]);
    expect(shown).toContain('── result ──');
    expect(shown).toContain('Ask more:  faultline ask');
    expect(shown).not.toMatch(/\u001b(?!\[[\d;]*[mK])/);
    expect(shown).not.toContain('\u0007');
  });
});

it('at most ten annotations are sent to GitHub', async () => {
  const many = Array.from(
    { length: 14 },
    (_, index) =>
      `FAIL test/t${index}.test.ts\n  ● suite ${index} › case ${index}\n\n    expect(received).toBe(expected)\n\n    Expected: ${index}\n    Received: ${index + 100}\n\n      at Object.<anonymous> (test/t${index}.test.ts:${index + 3}:5)\n`,
  );
  const { stdout } = await runFaultline(['triage', '-', '--github', '--quiet'], {
    input: `${many.join('\n')}\nTests: 14 failed\n`,
  });
  const commands = stdout.trimEnd().split('\n');
  expect(commands.length).toBeLessThanOrEqual(10);
  for (const command of commands)
    expect(command).toMatch(/^::(?:error|warning) (?:file=[^:,]+,line=\d+,)?title=[^:,]*::/);
});
