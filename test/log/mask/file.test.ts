import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { maskFile } from '../../../src/log/mask/file.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { readSources } from '../../../src/log/read-sources.ts';

const folder = mkdtempSync(join(tmpdir(), 'mask-file-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TOKEN = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';

describe('a log that is masked in its file', () => {
  it('gives the same reading as its text', async () => {
    const text = `${'compiling one more file of many\n'.repeat(90_000)}git clone https://x:${TOKEN}@example.org/a\nerror: src/a.c:1:2: boom\n`;
    const file = await maskInFile('secret.log', text);
    const held = {
      name: 'log',
      kind: 'log' as const,
      text: (await createMasker().mask(text)).text,
      notes: [],
    };
    const inPieces = { name: 'log', kind: 'log' as const, bytes: file.bytes, notes: [] };
    expect(readSources([inPieces], { budgetTokens: 500 })).toEqual(
      readSources([held], { budgetTokens: 500 }),
    );
    expect(file.secrets).toBe(1);
    file.close();
  });

  it('is the file itself if there is nothing to mask, and no file remains', async () => {
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('faultline-masked-'));
    const clean = await maskInFile('clean.log', 'one\ntwo\n');
    const secret = await maskInFile('hidden.log', `token=${TOKEN}\n`);
    expect(clean.bytes.slice(0, 100).toString()).toBe('one\ntwo\n');
    expect(secret.bytes.slice(0, 100).toString()).toBe('token=***\n');
    clean.close();
    secret.close();
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('faultline-masked-'))).toEqual(before);
  });

  it('is reported to contain invalid UTF-8', async () => {
    const path = write('latin.log', Buffer.from('f\xfcr\n', 'latin1'));
    const file = await maskFile(path, createMasker());
    expect(file?.notes).toEqual([expect.stringContaining('invalid UTF-8')]);
    file?.close();
  });

  it('is not handled here if it must be decoded first', async () => {
    expect(await maskFile(write('a.gz', gzipSync('text')), createMasker())).toBeNull();
    expect(
      await maskFile(write('wide.log', Buffer.from('\ufeffwide text', 'utf16le')), createMasker()),
    ).toBeNull();
  });
});

async function maskInFile(name: string, text: string) {
  const file = await maskFile(write(name, Buffer.from(text)), createMasker());
  if (file === null) throw new Error(`${name} was not read as text`);
  return file;
}

function write(name: string, bytes: Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}
