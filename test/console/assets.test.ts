import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ASSETS } from '../../src/console/assets.ts';

const BROWSER = resolve(import.meta.dirname, '../../src/console/browser');
const modules = readdirSync(BROWSER).filter((name) => name.endsWith('.js'));

test('all static files together are at most 75 kB in transfer, and 27 kB without the font', () => {
  const bytes = Object.values(ASSETS).reduce((sum, { gzip }) => sum + gzip.length, 0);
  expect(bytes).toBeLessThanOrEqual(75_000);
  expect(bytes - ASSETS.font.gzip.length).toBeLessThanOrEqual(27_000);
});

test('no two modules use one name for two things, because joined modules share their names', () => {
  const names = modules.flatMap((name) => {
    const source = readFileSync(join(BROWSER, name), 'utf8');
    return [...source.matchAll(/^(?:export )?(?:async )?(?:function|const|let|class) (\w+)/gm)].map(
      ([, declared]) => declared ?? '',
    );
  });
  const twice = names.filter((name, at) => names.indexOf(name) !== at);
  expect(twice).toEqual([]);
});

test('the joined script contains every module once, without imports between them', () => {
  const script = ASSETS.js.plain.toString();
  expect(script).not.toMatch(/^(?:import|export)\b/m);
  for (const start of ['startPages', 'startKeys', 'startLive', 'startLog', 'startReview', 'startAsk']) {
    expect(script.split(`function ${start}(`)).toHaveLength(2);
  }
});

test('a file that a browser caches permanently has a name that changes with its content', () => {
  for (const { address } of Object.values(ASSETS))
    expect(address).toMatch(/^\/assets\/\w+\.\w+\?v=[0-9a-f]{12}$/);
});
