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
  expect(outline?.steps).toEqual([
    { name: 'Run npm test', line: 1 },
    { name: 'step_script', line: 2 },
    { name: 'Unit tests', line: 3 },
    { name: ':jest: Tests', line: 4 },
    { name: 'Build', line: 5 },
  ]);
});

test('the shape of a log is the longest line of each of its parts', async () => {
  const outline = await outlineOf(['a', 'bbbb', 'cc']);
  expect(outline?.widths).toEqual([1, 4, 2]);
  const long = await outlineOf(Array.from({ length: 1_000 }, () => 'x'));
  expect(long?.widths.length).toBeLessThanOrEqual(240);
});

test('a log that is too long has no outline', async () => {
  const large = { name: 'build.log', lines: 3, bytes: 3_000_000 };
  expect(await readOutline(archiveOf(['a']), 'bld', large)).toBeNull();
});
