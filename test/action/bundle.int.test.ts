import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildAction } from '../../scripts/action-bundle/bundle.ts';
import { readAction } from './runner.ts';

const ROOT = join(import.meta.dirname, '../..');

test('the bundle starts without any package, and with nothing of what the rules never ask', async () => {
  const made = [...(await buildAction(ROOT))].filter(([name]) => name.endsWith('.mjs'));
  expect(made.map(([name]) => name)).toContain('main.mjs');
  for (const [, text] of made) {
    const imported = [...text.matchAll(/^(?:import|export)\b[^;'"]*["']([^"']+)["'];?$/gm)].map(([, from]) => from ?? '');
    expect(imported.filter((from) => !isBuiltin(from) && !from.startsWith('./'))).toEqual([]);
    // Node 20 lacks them; what it lacks else is added by the step, or checked for.
    expect(text).not.toMatch(/\b(?:Object\.groupBy|Promise\.try|Array\.fromAsync|RegExp\.escape)\(/);
  }
});

test('the file that the runner starts is read by any Node that it may have', async () => {
  const text = (await buildAction(ROOT)).get('main.mjs') ?? '';
  expect(text.length).toBeLessThan(4_000);
  expect(text).not.toMatch(/\?\?|\?\.|\|\|=|\bawait\b|import\(|#/);
});

test("action.yml is one by GitHub's own parser, and names a file that is there", async () => {
  const { runs, inputs, outputs } = await readAction();

  expect(runs).toMatchObject({ using: 'node24', main: 'dist/main.mjs' });
  expect(outputs?.map(({ id }) => id)).toEqual(['category', 'confidence', 'url', 'json', 'verdict', 'culprit', 'patch']);
  expect(inputs?.every(({ id, description, required }) => /^[a-z]+(-[a-z]+)*$/.test(id) && description !== '' && required === false)).toBe(
    true,
  );
});
