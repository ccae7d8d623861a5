import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createGitRepository } from '../support/git-repository.ts';
import { runFaultline } from './faultline.ts';

const FIXTURES = resolve(import.meta.dirname, '../fixtures/failures');
const CART = join(FIXTURES, 'cart-discount-rounding/log.txt');
const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-cli-'));

const Quote = z.object({ source: z.string(), line: z.int(), text: z.string() });
const Analysis = z.object({
  category: z.string(),
  kind: z.string(),
  confidence: z.number(),
  action: z.string(),
  rootCause: z.string(),
  fix: z.string(),
  claims: z
    .array(z.object({ text: z.string(), evidence: z.array(z.string()), quotes: z.array(Quote) }))
    .min(1),
  evidence: z.array(z.object({ id: z.string(), source: z.string(), text: z.string() })).min(1),
  suspects: z.array(z.object({ path: z.string(), author: z.string().nullable() })),
  hypotheses: z.array(z.unknown()),
  usage: z.object({ seconds: z.number(), iterations: z.number() }),
  terminationReason: z.string(),
  tests: z.array(z.string()),
});
const Answer = z.object({
  ok: z.literal(true),
  schema: z.literal(2),
  failureFound: z.literal(true),
  analyses: z.tuple([Analysis], Analysis),
  log: z.object({ lines: z.int(), maskedSecrets: z.int() }),
});
const readMain = (stdout = '') => Answer.parse(JSON.parse(stdout)).analyses[0];
const Refusal = z.object({
  ok: z.literal(false),
  schema: z.literal(1),
  error: z.object({ code: z.string(), message: z.string() }),
});

describe('triage of a test report without a log', () => {
  it('answers with claims that quote the lines of the report', async () => {
    const { code, stdout } = await runFaultline([
      'triage',
      resolve(import.meta.dirname, '../fixtures/reports/pytest.xml'),
      '--json',
    ]);
    expect(code).toBe(0);
    expect(stdout.includes('"action":"auto_notify"')).toBe(true);
    expect(stdout.includes('no claim is backed by evidence')).toBe(false);
    expect(
      stdout.includes('{"source":"pytest.xml","line":1,"text":"assert ((200 * 19) // 100) == 39"}'),
    ).toBe(true);
  });
});

describe('triage of a log', () => {
  it('UX 50: prints Key<tab>value lines to a pipe, and plain phases to standard error', async () => {
    const ended = await runFaultline(['triage', CART]);
    expect(ended).toMatchObject({ code: 0, signal: null });
    expect(ended.stdout).not.toContain('\u001b');
    for (const line of ended.stdout.trimEnd().split('\n')) expect(line).toMatch(/^[A-Z][a-z]+\t./);
    expect(ended.stdout).toMatch(/^Category\tTEST_FAILURE$/m);
    const phases = ended.stderr.trimEnd().split('\n');
    expect(phases[0]).toBe(`reading ${CART}`);
    expect(phases[1]).toMatch(/^classify TEST_FAILURE \d\d % assertion$/);
    expect(Math.max(...phases.slice(1).map((line) => line.length))).toBeLessThanOrEqual(130);
  });

  it('UX 50: prints only one JSON object with --json', async () => {
    const ended = await runFaultline(['triage', CART, '--json']);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(readMain(ended.stdout)).toMatchObject({
      category: 'TEST_FAILURE',
      tests: ['takes the coupon off and rounds to the nearest cent'],
    });
    // What belongs to one answer stands there only.
    expect(Object.keys(JSON.parse(ended.stdout))).toEqual([
      'ok',
      'schema',
      'failureFound',
      'analyses',
      'log',
    ]);
  });

  it('reads standard input, also gzip, and prints only the result with --quiet', async () => {
    const ended = await runFaultline(['triage', '-', '--quiet'], {
      input: gzipSync(`${'x\n'.repeat(5)}Error: boom\n`),
    });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(/^Answer\t/);
  });

  it('suspects changes since the last good commit, and refuses a commit that the clone does not contain', async () => {
    const repository = createGitRepository();
    try {
      const green = repository.commit(
        { 'src/cart.js': 'export const total = 1;\n', 'src/tax.js': 'export const rate = 0.19;\n' },
        'Begin',
      );
      repository.commit({ 'src/tax.js': 'export const rate = 0.2;\n' }, 'Raise the tax', 'Grace');
      const log = join(FOLDER, 'tax.log');
      const thrown = "TypeError: Cannot read properties of undefined (reading 'rate')";
      writeFileSync(
        log,
        `${thrown}\n    at total (/home/runner/work/api/api/src/cart.js:1:10)\n##[error]Process completed with exit code 1.\n`,
      );
      const suspectsWith = async (...more: string[]) => {
        const ended = await runFaultline(['triage', log, '--repo', repository.folder, '--json', ...more]);
        return readMain(ended.stdout).suspects.map(({ path, author }) => ({ path, author }));
      };
      expect(await suspectsWith('--green-commit', green)).toContainEqual({
        path: 'src/tax.js',
        author: 'Grace',
      });
      expect(await suspectsWith('--commit', 'main')).toContainEqual({ path: 'src/tax.js', author: 'Grace' });
      expect((await suspectsWith('--commit', green)).map(({ path }) => path)).not.toContain('src/tax.js');

      const [unknown, alone] = [
        await runFaultline(['triage', log, '--repo', repository.folder, '--commit', 'nowhere']),
        await runFaultline(['triage', log, '--commit', green]),
      ];
      expect(unknown).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('has no commit, branch or tag called nowhere'),
      });
      expect(alone).toMatchObject({ code: 2, stderr: expect.stringContaining('--repo') });
    } finally {
      repository.remove();
    }
  });

  it('prints workflow commands with --github, and exits 11 for INFRA_ERROR with --exit-code', async () => {
    const ended = await runFaultline([
      'triage',
      join(FIXTURES, 'registry-unavailable/log.txt'),
      '--github',
      '--exit-code',
      '--quiet',
    ]);
    expect(ended.stdout).toMatch(/^(?:::(?:error|warning) .*::.*\n)+$/);
    expect(ended.code).toBe(ended.stdout.startsWith('::error') ? 11 : 10);
  });

  it('exits with 10 with --exit-code if the answer needs review', async () => {
    const ended = await runFaultline(['triage', '-', '--exit-code', '--quiet'], {
      input: 'something odd happened\n##[error]Process completed with exit code 3.\n',
    });
    expect(ended.code).toBe(10);
    expect(ended.stdout).toMatch(/^Answer\tunsure$/m);
  });

  it('reads a large log from its file, whatever the size limit', async () => {
    const password = ['correct', 'horse', 'battery', '9'].join('-');
    const quiet = `${'-- Looking for header.h - found, and that is all there is to say of it\n'.repeat(256_000)}`;
    const large = writeFileWith(
      'large.log',
      `${quiet}login --password=${password}\n${readFileSync(CART, 'utf8')}\n${quiet}`,
    );
    const env = { FAULTLINE_MAX_LOG_BYTES: '1048576' };
    const [big, small] = await Promise.all([
      runFaultline(['triage', large, '--json'], { env }),
      runFaultline(['triage', CART, '--json']),
    ]);
    expect(big).toMatchObject({ code: 0, stderr: '' });
    expect(big?.stdout).not.toContain(password);
    const [seen, known] = [
      Answer.parse(JSON.parse(big?.stdout ?? '')),
      Answer.parse(JSON.parse(small?.stdout ?? '')),
    ];
    const told = ({ analyses: [{ rootCause, category, confidence }] }: typeof seen) => [
      rootCause,
      category,
      confidence,
    ];
    expect(told(seen)).toEqual(told(known));
    expect(seen.log).toMatchObject({
      lines: 512_002 + known.log.lines,
      maskedSecrets: known.log.maskedSecrets + 1,
    });
    const quotes = (answer: typeof seen, before: number) =>
      answer.analyses[0].claims
        .slice(0, 2)
        .flatMap((claim) => claim.quotes)
        .map(({ line, text }) => ({ line: line - before, text }));
    expect(quotes(seen, 256_001)).toEqual(quotes(known, 0));
    expect(quotes(seen, 0)).not.toEqual([]);
  });

  it('skips binary files of a directory, and says so', async () => {
    const folder = mkdtempSync(join(FOLDER, 'logs-'));
    writeFileSync(join(folder, 'build.log'), 'Error: boom\n');
    writeFileSync(join(folder, 'core.out'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 1, 2, 3]));
    const ended = await runFaultline(['triage', folder, '--quiet']);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/^Note\tSkipped: .*core\.out is an ELF program/m);
  });

  it('reports how UTF-16 and invalid UTF-8 were read', async () => {
    const wide = writeFileWith('wide.log', Buffer.from('\ufeffError: boom\n', 'utf16le'));
    const broken = writeFileWith(
      'broken.log',
      Buffer.from([...Buffer.from('Error: b'), 0xff, ...Buffer.from('oom\n')]),
    );
    const [first, second] = await Promise.all([
      runFaultline(['triage', wide, '--quiet']),
      runFaultline(['triage', broken, '--quiet']),
    ]);
    expect(first?.stdout).toMatch(/^Note\t.*wide\.log was UTF-16LE/m);
    expect(second?.stdout).toMatch(/^Note\t.*broken\.log has 1 invalid UTF-8 sequence/m);
  });
});

describe('input that cannot be read', () => {
  it.each([
    ['a missing file', () => join(FOLDER, 'none.log'), /none\.log cannot be read: there is no such file/],
    [
      'an empty file',
      () => writeFileWith('empty.log', ''),
      /empty\.log is empty: there is nothing to analyze/,
    ],
    ['an empty directory', () => mkdtempSync(join(FOLDER, 'none-')), /contains no log or report/],
    [
      'a broken zip archive',
      () => writeFileWith('run.zip', Buffer.from('PK\u0003\u0004')),
      /run\.zip is not a usable zip archive/,
    ],
    [
      'a 7-Zip archive',
      () => writeFileWith('run.7z', Buffer.from('7z\u00bc\u00af', 'latin1')),
      /run\.7z is a 7-Zip archive/,
    ],
    [
      'a broken zip archive in gzip',
      () => writeFileWith('run.zip.gz', gzipSync('PK\u0003\u0004')),
      /run\.zip\.gz is not a usable zip/,
    ],
    [
      'binary data',
      () => writeFileWith('noise.log', Buffer.from(Array.from({ length: 400 }, (_, i) => i % 9))),
      /noise\.log is binary data/,
    ],
    [
      'broken gzip',
      () => writeFileWith('cut.gz', gzipSync('x'.repeat(1000)).subarray(0, 20)),
      /cut\.gz is broken gzip/,
    ],
  ])('UX 50: %s exits with 3 and a sentence, without output', async (_name, path, sentence) => {
    const ended = await runFaultline(['triage', path(), '--quiet']);
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).toMatch(sentence);
    expect(ended.stderr).not.toMatch(/^\s+at /m);
  });

  it('such as a gzip bomb or an endless file is read up to the limit', async () => {
    const env = { FAULTLINE_MAX_LOG_BYTES: '1048576' };
    const bomb = writeFileWith('bomb.gz', gzipSync(Buffer.alloc(50_000_000)));
    const [first, second] = await Promise.all([
      runFaultline(['triage', bomb], { env }),
      runFaultline(['read', '/dev/zero'], { env }),
    ]);
    for (const ended of [first, second]) {
      expect(ended).toMatchObject({ code: 3, stdout: '' });
      expect(ended?.stderr).toContain(
        'exceeds the limit of 1 MiB when unpacked. FAULTLINE_MAX_LOG_BYTES sets the limit.',
      );
    }
  });

  it('is reported as JSON if JSON was requested', async () => {
    const ended = await runFaultline(['triage', join(FOLDER, 'none.log'), '--json']);
    expect(ended.code).toBe(3);
    expect(Refusal.parse(JSON.parse(ended.stdout)).error.code).toBe('not-found');
  });
});

function writeFileWith(name: string, content: string | Buffer): string {
  const path = join(FOLDER, name);
  writeFileSync(path, content);
  return path;
}
