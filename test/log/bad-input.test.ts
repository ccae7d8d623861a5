import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { showsFailure } from '../../src/log/fingerprint/failures.ts';
import { openFileBytes, wrapBytes } from '../../src/log/lines/bytes.ts';
import { maskFile } from '../../src/log/mask/file.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import { readSources } from '../../src/log/read-sources.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-bad-log-'));
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

const writeFileWith = (name: string, content: string | Uint8Array): string => {
  const path = join(FOLDER, name);
  writeFileSync(path, content);
  return path;
};
const read = (bytes: ReturnType<typeof wrapBytes>) =>
  readSources([{ name: 'build.log', kind: 'log', bytes, notes: [] }], { budgetTokens: 2_000 });

describe('a log that is masked in pieces', () => {
  it('may consist of bytes that are not characters', async () => {
    const parts: number[] = [];
    await createMasker().maskPieces(wrapBytes(Buffer.alloc(300_000, 0x80)), (piece) =>
      parts.push(piece.length),
    );
    const file = await maskFile(
      writeFileWith('continued.log', Buffer.alloc(5_000_000, 0x80)),
      createMasker(),
    );
    expect(file?.notes).toEqual([
      expect.stringContaining('invalid UTF-8'),
      expect.stringContaining('one long line'),
    ]);
    expect(read(file!.bytes).sources).toEqual([{ name: 'build.log', lines: 1, bytes: 5_000_000 }]);
    file?.close();
  });

  it('may be one long line of two-byte characters, which remains valid UTF-8', async () => {
    const file = await maskFile(writeFileWith('wide.log', `a${'é'.repeat(4_500_000)}`), createMasker());
    expect(file?.notes).toEqual(['The log has no line feed: it is one long line.']);
    file?.close();
  });

  it('is reported to contain NUL characters if it does', async () => {
    const file = await maskFile(writeFileWith('nul.log', `${'line\n'.repeat(20_000)}\0\0`), createMasker());
    expect(file?.notes).toEqual(['The log holds NUL characters.']);
    file?.close();
  });

  it.each([
    ['XML', '<?xml version="1.0"?>\n<testsuite/>'],
    ['JSON', '\ufeff{"tests": []}'],
    ['a list in JSON', '[\n  {"uri": "a.feature"}]'],
  ])('is refused as binary if it begins with %s', async (_what, text) => {
    expect(await maskFile(writeFileWith('report', text), createMasker())).toBeNull();
  });

  it('is accepted if it begins with a marker in brackets', async () => {
    const file = await maskFile(
      writeFileWith('jenkins.log', '[Pipeline] Start of Pipeline\n'),
      createMasker(),
    );
    expect(file).not.toBeNull();
    file?.close();
  });
});

describe('a file that is truncated while it is read', () => {
  it('is read up to its new end', async () => {
    const path = writeFileWith('shrinks.log', 'Error: boom\n'.repeat(400_000));
    const file = openFileBytes(path);
    truncateSync(path, 120);
    expect(read(file).messages[0]?.text).toBe('Error: boom');
    expect(await createMasker().maskPieces(file, () => undefined)).toBe(0);
    file.close();
  });

  it('may be empty by then', async () => {
    const path = writeFileWith('vanishes.log', 'Error: boom\n'.repeat(400_000));
    const file = openFileBytes(path);
    truncateSync(path, 0);
    expect(read(file).messages).toEqual([]);
    file.close();
  });
});

describe('T37: hostile lines', () => {
  const BAIT: Readonly<Record<string, string>> = {
    'a file name without end': `at ${'a/'.repeat(200_000)}(`,
    'blanks around a word': `${' '.repeat(200_000)}error${' '.repeat(200_000)}:`,
    brackets: '(['.repeat(200_000),
    'escapes in escapes': '\u001b[\u001b]0;'.repeat(100_000),
    'escapes that never end': `\u001b[${'0;'.repeat(200_000)}`,
    'every word a reader looks for':
      'Error: FAILED FAIL Caused by: Traceback (most recent call last): ##[error] '.repeat(4_000),
    'digits and dots': `${'1.'.repeat(200_000)}: error: ${'9'.repeat(100_000)}`,
    'carriage returns': `${'50%\r'.repeat(100_000)}Error: boom`,
  };
  it.each(Object.keys(BAIT))('of %s are read like any other', (what) => {
    const reading = read(wrapBytes(Buffer.from(`${`${BAIT[what]}\n`.repeat(5)}npm ERR! code E404\n`)));
    expect(reading.excerpts.at(-1)?.text).toContain('npm ERR! code E404');
  });
});

describe('the log of a passed build', () => {
  const FAILURES = join(import.meta.dirname, '../fixtures/failures');
  const green = (slug: string) => join(FAILURES, slug, 'green.log.txt');
  const slugs = readdirSync(FAILURES).filter((slug) => existsSync(green(slug)));
  it.each(slugs)('contains no failure: %s', (slug) => {
    expect(showsFailure(read(wrapBytes(readFileSync(green(slug)))))).toBe(false);
  });

  it.each([
    ['a warning', '##[warning]Node.js 20 actions are deprecated.\n', false],
    ['a step that ended well', 'Process exited with code 0\n', false],
    ['a step that ended badly', '##[error]Process completed with exit code 1.\n', true],
    ['an error', 'Error: boom\n', true],
    ['nothing', '', false],
  ])('with %s added: %s', (_what, text, shows) => {
    expect(showsFailure(read(wrapBytes(Buffer.from(`Compiling\n${text}`))))).toBe(shows);
  });
});
