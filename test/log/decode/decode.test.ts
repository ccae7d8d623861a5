import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TriageError } from '../../../src/domain/errors.ts';
import { decodeSource } from '../../../src/log/decode/decode.ts';

const limits = { maxBytes: 1_000 };
const decode = (bytes: Uint8Array) => decodeSource('build.log', bytes, 'log', limits);
const toBytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));

describe('T38: decodeSource', () => {
  it('reads plain text unchanged', () => {
    expect(decode(toBytes('a\r\nb\rc\n'))).toEqual({
      name: 'build.log',
      kind: 'log',
      text: 'a\r\nb\rc\n',
      notes: [],
    });
  });

  it('decompresses gzip, recognized by its first bytes', () => {
    expect(decode(gzipSync('hello\n')).text).toBe('hello\n');
  });

  it('refuses a gzip bomb at the limit', () => {
    expect(() => decode(gzipSync(Buffer.alloc(5_000_000, 97)))).toThrow(
      expect.objectContaining({ code: 'too-large', retryable: false }),
    );
  });

  it('refuses text above the limit, and states the limit', () => {
    expect(() => decode(Buffer.alloc(1_001, 97))).toThrow('build.log is larger than the limit of 1 kB.');
  });

  it('refuses invalid gzip', () => {
    expect(() => decode(gzipSync('hello\n').subarray(0, 12))).toThrow(
      expect.objectContaining({ code: 'invalid-input' }),
    );
  });

  it.each([
    ['a zip archive', [0x50, 0x4b, 3, 4, 0, 0]],
    ['an ELF program', [0x7f, 0x45, 0x4c, 0x46, 1]],
    ['a PNG image', [0x89, 0x50, 0x4e, 0x47, 13]],
    ['binary data', [1, 2, 3, 4, 5, 6, 7, 65]],
  ])('refuses %s by name', (what, bytes) => {
    expect(() => decode(Uint8Array.from(bytes))).toThrow(
      `build.log is ${what}, not the text of a log or report.`,
    );
  });

  it('reads UTF-16 with a byte order mark', () => {
    const text = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('fähler\n', 'utf16le')]);
    expect(decode(text)).toMatchObject({ text: 'fähler\n', notes: ['build.log was UTF-16LE.'] });
  });

  it('drops the byte order mark', () => {
    expect(decode(toBytes([0xef, 0xbb, 0xbf], 'a')).text).toBe('a');
  });

  it('replaces and counts invalid UTF-8, without counting replacement characters of the input', () => {
    const { text, notes } = decode(toBytes('a', [0xff], 'b \ufffd', [0xc3]));
    expect(text).toBe('a\ufffdb \ufffd\ufffd');
    expect(notes).toEqual(['build.log has 2 invalid UTF-8 sequences, shown as \ufffd.']);
  });

  it('replaces NUL characters, which databases refuse', () => {
    expect(decode(toBytes(`some text ${'x'.repeat(60)}`, [0], 'b')).text).not.toContain('\0');
  });

  it('accepts an empty log, with a note', () => {
    expect(decode(new Uint8Array())).toMatchObject({ text: '', notes: ['build.log is empty.'] });
  });

  it.each<[string, 'utf16le' | 'utf16be']>([
    ['UTF-16LE', 'utf16le'],
    ['UTF-16BE', 'utf16be'],
  ])('recognizes %s without a byte order mark by its NUL characters', (title, encoding) => {
    const bytes = Buffer.from('Error: f\u00e4hler \u2713\n', 'utf16le');
    expect(decode(encoding === 'utf16le' ? bytes : bytes.swap16())).toMatchObject({
      text: 'Error: f\u00e4hler \u2713\n',
      notes: [`build.log was ${title}.`],
    });
  });

  it('reads UTF-16 that was cut within a character', () => {
    const { text, notes } = decode(Buffer.from('\ufeffError: boom\n', 'utf16le').subarray(0, -1));
    expect(text).toMatch(/^Error: boom/);
    expect(notes).toEqual(['build.log was UTF-16LE, cut in the middle of a character.']);
  });

  it('reads Windows-1252 if hardly anything is valid UTF-8', () => {
    const text = 'Zugriff f\u00fcr Ger\u00e4t verweigert: ung\u00fcltig\n';
    expect(decode(Buffer.from(text, 'latin1'))).toMatchObject({
      text,
      notes: ['build.log is not UTF-8 and was read as Windows-1252.'],
    });
  });

  it('reads UTF-16 that was appended to other text', () => {
    const bytes = Buffer.concat([
      Buffer.from('a line of ASCII text\n'.repeat(20)),
      Buffer.from('Error: boom\n', 'utf16le'),
    ]);
    const { text, notes } = decode(bytes);
    expect(text).toMatch(/Error: boom\n$/);
    expect(notes).toEqual(['build.log holds 12 NUL characters, which were left out.']);
  });

  it('reports a log with only carriage returns', () => {
    expect(decode(Buffer.from('1 %\r2 %\r3 %\r'))).toMatchObject({
      text: '1 %\r2 %\r3 %\r',
      notes: [expect.stringContaining('no line feed')],
    });
  });

  it('refuses bzip2 and xz by name', () => {
    expect(() => decode(Buffer.from('BZh91AY&SY'))).toThrow('bzip2');
    expect(() => decode(Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]))).toThrow('xz');
  });

  it('throws only TriageErrors, whatever the bytes', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 1_200 }),
      fc.uint8Array({ maxLength: 200 }).map((some) => gzipSync(some)),
      fc.string({ unit: 'binary', maxLength: 300 }).map((text) => Buffer.from(text, 'utf16le')),
    );
    fc.assert(
      fc.property(bytes, (some) => {
        try {
          const { text } = decode(some);
          return text.isWellFormed() && !text.includes('\0') && text.length <= limits.maxBytes;
        } catch (error) {
          return error instanceof TriageError;
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('a log that was written in another form', () => {
  it.each([
    ['code page 437', '∩╗┐Γ£ô 3 passed ΓÇ║ ├⌐t├⌐', '\ufeff✓ 3 passed › été'],
    ['code page 850', '´╗┐Ô£ô 3 passed ÔÇ║ ├®t├®', '\ufeff✓ 3 passed › été'],
    ['code page 866', 'я╗┐тЬУ 3 passed тА║ ├йt├й', '\ufeff✓ 3 passed › été'],
    ['Windows-1252', 'ï»¿âœ“ 3 passed â€º Ã©tÃ©', '\ufeff✓ 3 passed › été'],
  ])('is converted if it was stored as %s', (_, shown, text) => {
    const source = decode(Buffer.from(shown));
    expect(source.text).toBe(text);
    expect(source.notes).toEqual([
      'build.log was UTF-8 that had been read in another code page, and was read again.',
    ]);
  });

  it('is recognized by its content if it has no marker', () => {
    expect(decode(Buffer.from('Γ¥î one (failed)\nΓ¥î two (failed)\n')).text).toBe(
      '❌ one (failed)\n❌ two (failed)\n',
    );
    expect(decode(Buffer.from('тЭп a.test.ts\nтЭп b.test.ts\n')).text).toBe('❯ a.test.ts\n❯ b.test.ts\n');
  });

  it('is not changed if it is only similar', () => {
    const russian = 'Ошибка: тест «Вход» упал, ФАЙЛ не найден — строка №5\nТАК и так\n';
    expect(decode(Buffer.from(russian)).text).toBe(russian);
    const text = 'σ = 3 µs, ça va, ┌──┐\n';
    expect(decode(Buffer.from(text))).toMatchObject({ text, notes: [] });
  });

  it('has its escapes restored, but not in JSON, where they are plain characters', () => {
    expect(decode(Buffer.from('^[[31mbad\\u001b[0m \\x1b[1mx ␛[0m ^[ \\u001b'))).toMatchObject({
      text: '\u001b[31mbad\u001b[0m \u001b[1mx \u001b[0m ^[ \\u001b',
    });
    const json = '{"Output":"\\u001b[31mbad"}\n';
    expect(decode(Buffer.from(json)).text).toBe(json);
  });

  it('has its quote marks removed, but keeps the mark that npm prints before a script', () => {
    expect(decode(Buffer.from('He wrote:\n> a\n>\n> b\n> > c\n> d\n> e\n')).text).toBe(
      'He wrote:\na\n\nb\n> c\nd\ne\n',
    );
    const npm = '\n> pear@1.0.0 test\n> node --test\n\nok\nok\n';
    expect(decode(Buffer.from(npm)).text).toBe(npm);
  });
});
