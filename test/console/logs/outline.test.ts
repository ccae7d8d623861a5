import { expect, test } from 'vitest';
import { readOutline } from '../../../src/console/logs/outline.ts';

/** A text in pieces of so many lines, as the archive gives them. */
function archiveOf(lines: readonly string[], perPiece = 2) {
  return {
    async *pieces() {
      for (let at = 0; at < lines.length; at += perPiece)
        yield { lineStart: at + 1, bytes: Buffer.from(lines.slice(at, at + perPiece).join('\n')) };
    },
  };
}

const outlineOf = async (lines: readonly string[]) =>
  await readOutline(archiveOf(lines), 'bld', {
    name: 'build.log',
    lines: lines.length,
    bytes: Buffer.byteLength(lines.join('\n')),
  });

test('steps are found by the marks of each CI, with the line of the mark', async () => {
  const outline = await outlineOf([
    '2026-03-01T10:00:00Z ##[group]Run npm test',
    'section_start:1560896352:step_script\r\u001b[0K$ npm test',
    '[Pipeline] { (Unit tests)',
    '+++ :jest: Tests',
    '##[section]Starting: Build',
    'plain words',
  ]);
  expect(outline?.steps).toMatchObject([
    { name: 'Run npm test', line: 1 },
    { name: 'step_script', line: 2 },
    { name: 'Unit tests', line: 3 },
    { name: ':jest: Tests', line: 4 },
    { name: 'Build', line: 5 },
  ]);
});

test('a step takes until the next one, or until the last time of the log', async () => {
  const outline = await outlineOf([
    '\ufeff2026-03-01T10:00:00.5000000Z ##[group]Run npm ci',
    '2026-03-01T10:00:02Z added 12 packages',
    '2026-03-01T10:00:03.5Z ##[group]Run npm test',
    '2026-03-01T10:02:03.5Z 1 failed',
    '',
  ]);
  expect(outline?.steps.map(({ milliseconds }) => milliseconds)).toEqual([3_000, 120_000]);
  const gitlab = await outlineOf([
    'section_start:1560896352:prepare\r\u001b[0K',
    'section_start:1560896360:step_script\r\u001b[0K$ npm test',
    'section_end:1560896361:step_script\r\u001b[0K',
  ]);
  expect(gitlab?.steps.map(({ milliseconds }) => milliseconds)).toEqual([8_000, 1_000]);
  const without = await outlineOf(['##[group]Run npm ci', '##[group]Run npm test', 'done']);
  expect(without?.steps.map(({ milliseconds }) => milliseconds)).toEqual([null, null]);
});

test('the outline of a log contains the longest line of each of its parts', async () => {
  const outline = await outlineOf(['a', 'bbbb', 'cc']);
  expect(outline?.widths).toEqual([1, 4, 2]);
  const long = await outlineOf(Array.from({ length: 1_000 }, () => 'x'));
  expect(long?.widths.length).toBeLessThanOrEqual(240);
});

test('a log that is too long has no outline', async () => {
  const large = { name: 'build.log', lines: 3, bytes: 3_000_000 };
  expect(await readOutline(archiveOf(['a']), 'bld', large)).toBeNull();
});
