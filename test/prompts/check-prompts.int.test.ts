import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROMPT_FOLDER } from '../../prompts/load.ts';

const folder = mkdtempSync(join(tmpdir(), 'prompts-'));
beforeAll(() => cpSync(join(PROMPT_FOLDER, 'triage'), join(folder, 'triage'), { recursive: true }));
afterAll(() => rmSync(folder, { recursive: true }));

function check(path?: string) {
  const run = spawnSync(
    process.execPath,
    ['scripts/parts/check/check-prompts.ts', ...(path === undefined ? [] : [path])],
    { encoding: 'utf8' },
  );
  return { code: run.status, said: run.stdout + run.stderr };
}

test('our prompts pass the check', () => {
  expect(check()).toMatchObject({ code: 0 });
});

test('an unused prompt, an undeclared variable and outside text without a fence are each named', () => {
  writeFileSync(join(folder, 'triage', 'dream.md'), '');
  writeFileSync(join(folder, 'triage', 'answer.BAD_LUCK.md'), '');
  appendFileSync(join(folder, 'triage', 'reason.md'), '\n{{weather}}\n');
  const verify = join(folder, 'triage', 'verify.md');
  writeFileSync(verify, readFileSync(verify, 'utf8').replace('page: data', 'page: text'));
  const { code, said } = check(folder);
  expect(code).toBe(1);
  expect(said).toContain('The prompt triage/dream.md is used by no judgement.');
  expect(said).toContain('The prompt triage/answer.BAD_LUCK.md is used by no judgement.');
  expect(said).toContain('uses weather without declaring it');
  expect(said).toContain('declares page as text; the code gives it as data');
});
