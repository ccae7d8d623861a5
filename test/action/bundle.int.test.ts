import { isBuiltin } from 'node:module';
import { expect, test } from 'vitest';
import { bundleOnce, readAction } from './runner.ts';

test('the bundle imports no package, and contains nothing that the rules do not use', async () => {
  const made = [...(await bundleOnce())].filter(([name]) => name.endsWith('.mjs'));
  expect(made.map(([name]) => name)).toContain('main.mjs');
  for (const [, text] of made) {
    const imported = [...text.matchAll(/^(?:import|export)\b[^;'"]*["']([^"']+)["'];?$/gm)].map(
      ([, from]) => from ?? '',
    );
    expect(imported.filter((from) => !isBuiltin(from) && !from.startsWith('./'))).toEqual([]);
    // Node 20 lacks them; what it lacks else is added by the step, or checked for.
    expect(text).not.toMatch(/\b(?:Object\.groupBy|Promise\.try|Array\.fromAsync|RegExp\.escape)\(/);
  }
});

test('the file that the runner starts uses only syntax that any Node of a runner can parse', async () => {
  const text = (await bundleOnce()).get('main.mjs') ?? '';
  expect(text.length).toBeLessThan(4_000);
  expect(text).not.toMatch(/\?\?|\?\.|\|\|=|\bawait\b|import\(|#/);
});

test("action.yml is valid for GitHub's own parser, and the file that it starts exists", async () => {
  const { runs, inputs, outputs } = await readAction();

  expect(runs).toMatchObject({ using: 'node24', main: 'dist/main.mjs' });
  expect(outputs?.map(({ id }) => id)).toEqual([
    'category',
    'confidence',
    'url',
    'json',
    'verdict',
    'culprit',
    'patch',
  ]);
  expect(
    inputs?.every(
      ({ id, description, required }) =>
        /^[a-z]+(-[a-z]+)*$/.test(id) && description !== '' && required === false,
    ),
  ).toBe(true);
});
