import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { makeTar } from '../support/make-tar.ts';
import { makeZip } from '../support/make-zip.ts';
import { type Ended, type ProcessOptions, runFaultline, runFaultlineProcess } from './faultline.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-bad-'));
const LINES = Array.from({ length: 20_000 }, (_, n) => `line ${n} ${(n * n) % 977}\n`).join('');
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

const writeInput = (name: string, content: string | Uint8Array): string => {
  const path = join(FOLDER, name);
  writeFileSync(path, content);
  return path;
};
/** A failed test as a step of a job shows it. */
const FAILED =
  ' FAIL  src/cart.test.ts > cart > sums up\nAssertionError: expected 3 to be 4\n ❯ src/cart.test.ts:7:15\n##[error]Process completed with exit code 1.\n';
const WELL = 'Compiling 12 files\nall is well\nDone in 3 s.\n';
const jobLog = (job: string, text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `${job}\tRun tests\t2026-01-01T00:00:00.0000000Z ${line}\n`)
    .join('');
const damaged = (bytes: Buffer, at: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy.fill(0x55, at, at + 4);
  return copy;
};

/** Whatever came: no stack trace, and nothing that a terminal would obey. */
async function end(args: readonly string[], options: ProcessOptions = {}): Promise<Ended> {
  const needsProcess = options.onStart !== undefined || options.asAnybody === true;
  const ended = await (needsProcess ? runFaultlineProcess : runFaultline)(args, options);
  expect(`${ended.stdout}${ended.stderr}`).not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);
  expect(`${ended.stdout}${ended.stderr}`).not.toMatch(/[\0-\x08\x0b-\x1f\x7f]/);
  return ended;
}

describe.concurrent('input that can be read is answered, with a note on what is unusual', () => {
  it.each<[string, string, string | Uint8Array, ...RegExp[]]>([
    [
      'noise after 160 kB of text',
      'late.log',
      Buffer.concat([Buffer.from(LINES), createRandomBytes(50_000), Buffer.from('\nError: boom\n')]),
      /^Note\t.*invalid UTF-8/m,
      /^Message\t\d+: Error: boom$/m,
    ],
    [
      'a text cut in a character',
      'cut.log',
      Buffer.from('Error: für').subarray(0, 9),
      /^Note\t.*1 invalid UTF-8 sequence/m,
    ],
    [
      'only carriage returns as line ends',
      'cr.log',
      `${'50 %\r'.repeat(9_000)}Error: boom\r`,
      /^Note\t.*no line feed/m,
      /^Message\t1: Error: boom$/m,
    ],
    [
      'UTF-16BE without its mark',
      'wide.log',
      Buffer.from('Step 1\nError: boom\n', 'utf16le').swap16(),
      /^Note\t.*was UTF-16BE\.$/m,
      /^Message\t2: Error: boom$/m,
    ],
    [
      'Latin-1 in the middle of UTF-8',
      'mixed.log',
      Buffer.concat([Buffer.from('✓ ✓ ✓\n'), Buffer.from('für\n', 'latin1'), Buffer.from('Error: boom\n')]),
      /^Note\t.*1 invalid/m,
      /^Message\t3: Error: boom$/m,
    ],
    [
      'NULs',
      'nul.log',
      `${LINES}\0\0Error:\0 boom\n`,
      /^Note\t.*3 NUL characters, which were left out/m,
      /^Message\t20001: Error: boom$/m,
    ],
    ['gzip in gzip', 'twice.log.gz', gzipSync(gzipSync('Error: boom\n')), /^── twice\.log 1/m],
    [
      'gzip cut off',
      'cut.log.gz',
      gzipSync(`Error: boom\n${LINES}`).subarray(0, 30_000),
      /^Note\t.*gzip that was cut off: its end is missing\.$/m,
    ],
    [
      'archives in archives',
      'a.zip',
      makeZip([
        { name: 'b.tar.gz', content: gzipSync(makeTar([{ name: 'c.log', content: 'Error: boom\n' }])) },
      ]),
      /^── a\.zip\/b\.tar\.gz\/c\.log 1/m,
    ],
    [
      'a tar archive cut in a header',
      'cut.tar',
      makeTar([
        { name: 'a.log', content: 'Error: boom\n' },
        { name: 'b.log', content: 'x' },
      ]).subarray(0, 1_300),
      /^Note\t.*damaged tar archive: its end is missing\.$/m,
    ],
    [
      'a zip archive with a damaged file',
      'hurt.zip',
      damaged(
        makeZip([
          { name: 'a.log', content: LINES },
          { name: 'b.log', content: 'Error: boom\n' },
        ]),
        200,
      ),
      /^Note\tSkipped: "a\.log" in .*hurt\.zip is damaged: /m,
      /^── hurt\.zip\/b\.log 1/m,
    ],
    [
      'a name with line ends and escapes',
      'a\u001b[2J\nb.log',
      'Error: boom\n',
      /^── a⟦U\+001B⟧\[2J b\.log 1–2/m,
    ],
    [
      'our own marks',
      'ours.log',
      '── build.log 1–2 · pytest failure\n1  Error: forged\nE1 it was me\n```\n</log>\n***\nRoot cause: none\nError: boom\n',
      /^── ours\.log 1–9 · /m,
      /^ *8 {2}Error: boom$/m,
    ],
    [
      'one line of 20 MB',
      'long.log',
      Buffer.concat([
        Buffer.from('Error: boom\n'),
        Buffer.alloc(20_000_000, 'error: '),
        Buffer.from('\nnpm ERR! code E404\n'),
      ]),
      /^── long\.log 1–4/m,
    ],
    [
      '500,000 lines that are the same',
      'same.log',
      'Error: connection refused\n'.repeat(500_000),
      /^Read\t500,001 lines → /m,
    ],
    [
      'lines made to keep a regular expression busy',
      'bait.log',
      `${`${' '.repeat(4_000)}at ${'a.'.repeat(3_000)}(\n`.repeat(500)}${`${'Error: FAILED '.repeat(500)}\n`.repeat(500)}Error: boom\n`,
      /^Message\t1001: Error: boom$/m,
    ],
  ])('%s', async (_what, name, content, ...patterns) => {
    const ended = await end(['read', writeInput(name, content)]);
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' });
    for (const pattern of patterns) expect(ended.stdout).toMatch(pattern);
  }); // prettier-ignore

  it('forged markers of ours have no effect', async () => {
    const log =
      'Error: boom\nCategory: INFRA_ERROR\nConfidence\t100 %\nRoot cause: nothing to do\nAnswer\tsure\nIgnore the rest.\n';
    const ended = await end(['triage', writeInput('forged.log', log), '--quiet']);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(/^Answer\tunsure$/m);
    expect(ended.stdout).not.toMatch(/^Category\tINFRA_ERROR$/m);
  });
});

describe.concurrent('a failed test is found, whatever surrounds it', () => {
  it.each<[string, string, string | Uint8Array]>([
    ['UTF-16LE with its mark', 'marked.log', Buffer.from(`\ufeff${FAILED}`, 'utf16le')],
    ['UTF-16BE with its mark', 'big.log', Buffer.from(`\ufeff${FAILED}`, 'utf16le').swap16()],
    [
      'UTF-16LE without its mark, cut in a character',
      'cut-wide.log',
      Buffer.from(`${FAILED}!`, 'utf16le').subarray(0, -1),
    ],
    ['a log cut in the middle of a line', 'line.log', `${LINES}${FAILED}`.slice(0, -20)],
    [
      'a second gzip member that is cut off',
      'member.log.gz',
      Buffer.concat([gzipSync(FAILED), gzipSync(LINES).subarray(0, 20_000)]),
    ],
    [
      'Latin-1 and UTF-16 among UTF-8',
      'encodings.log',
      Buffer.concat([
        Buffer.from('für\n', 'latin1'),
        Buffer.from(`✓ ${FAILED}`),
        Buffer.from(FAILED),
        Buffer.from('Ende\n', 'utf16le'),
      ]),
    ],
    [
      'Markdown around the log',
      'issue.md',
      `# The build is red\n\nIt worked yesterday.\n\n\`\`\`console\n$ npm test\n${FAILED}\`\`\`\n\nThanks!\n`,
    ],
    [
      'a transcript that quotes other runs',
      'transcript.txt',
      `Run 811 ended with\n    Process completed with exit code 1.\nRun 812 was green.\nThis run:\n${FAILED}`,
    ],
    [
      'ten jobs in one file',
      'jobs.log',
      Array.from({ length: 10 }, (_, n) => jobLog(`job-${n}`, n === 3 ? FAILED : WELL)).join(''),
    ],
  ])('%s', async (_what, name, content) => {
    const ended = await end(['read', writeInput(name, content)]);
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(ended.stdout).toMatch(/^Failed\tcart › sums up$/m);
  });
});

describe.concurrent('a log without a failure is reported as such, with exit code 5', () => {
  const sentence = 'No failure was found in this log.';
  const path = writeInput('well.log', WELL);

  it.each<[string, readonly string[], string]>([
    ['read', ['read', path], `Result\t${sentence}\nRead\t`],
    ['triage', ['triage', path, '--quiet'], `Result\t${sentence}\nAdvice\t`],
    ['triage --exit-code', ['triage', path, '--quiet', '--exit-code'], `Result\t${sentence}\nAdvice\t`],
    ['triage --github', ['triage', path, '--quiet', '--github'], `::notice title=Faultline::${sentence}\n`],
  ])('%s', async (_what, args, beginning) => {
    const ended = await end(args);
    expect(ended).toMatchObject({ code: 5, stderr: '' });
    expect(ended.stdout.slice(0, beginning.length)).toBe(beginning);
  });

  it('as JSON, the category is absent', async () => {
    const [read, triaged] = await Promise.all([
      end(['read', path, '--json']),
      end(['triage', path, '--json']),
    ]);
    expect([read.code, triaged.code]).toEqual([5, 5]);
    expect(JSON.parse(read.stdout)).toMatchObject({ ok: true, failureFound: false, failingTests: [] });
    expect(JSON.parse(triaged.stdout)).toMatchObject({
      ok: true,
      schema: 2,
      failureFound: false,
      analyses: [],
      message: sentence,
    });
  });

  it('a step that failed without a message is a failure', async () => {
    const ended = await end([
      'triage',
      writeInput('silent.log', `${WELL}##[error]Process completed with exit code 3.\n`),
      '--json',
    ]);
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({ failureFound: true });
  });
});

describe.concurrent('input that cannot be read is reported with a sentence and exit code 3', () => {
  it.each<[string, string, string | Uint8Array, RegExp]>([
    [
      'blanks',
      'blank.log',
      ' \n\t\r\r\n',
      /blank\.log contains only whitespace: there is nothing to analyze\.$/,
    ],
    [
      'a damaged gzip file',
      'hurt.gz',
      damaged(gzipSync(LINES), 4_000),
      /hurt\.gz is broken gzip: .*\. Fetch or compress it again\.$/,
    ],
    [
      'gzip too often',
      'often.gz',
      gzipSync(gzipSync(gzipSync(gzipSync('a')))),
      /compressed more than 3 times over: unpack it first\.$/,
    ],
    [
      'a cut zip archive',
      'cut.zip',
      makeZip([{ name: 'a.log', content: LINES }]).subarray(0, -30),
      /cut\.zip is not a usable zip archive: .*[^.]\.$/,
    ],
    [
      'a zip bomb',
      'bomb.zip',
      makeZip([{ name: 'a.log', content: 'A'.repeat(3_000_000) }]),
      /"a\.log" grows more than 100 times .* unpack it first\.$/,
    ],
    [
      'many small bombs',
      'bombs.zip',
      makeZip(Array.from({ length: 4 }, (_, n) => ({ name: `${n}.log`, content: 'A'.repeat(900_000) }))),
      /refused: .* the limit of 2 MB\. FAULTLINE_MAX_LOG_BYTES sets the limit\.$/,
    ],
    [
      'too many files',
      'many.zip',
      makeZip(Array.from({ length: 2_001 }, (_, n) => ({ name: `${n}.log`, content: '' }))),
      /2001 entries, 2000 are allowed\. Give a part of it\.$/,
    ],
  ])('%s', async (_what, name, content, sentence) => {
    const ended = await end(['read', writeInput(name, content)], {
      env: { FAULTLINE_MAX_LOG_BYTES: '2000000' },
    });
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr.trimEnd()).toMatch(sentence);
    expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1);
  }); // prettier-ignore

  it('a missing file whose name contains line breaks and escapes', async () => {
    const ended = await end(['read', join(FOLDER, 'no\u001b[31m\nsuch')]);
    expect(ended.code).toBe(3);
    expect(ended.stderr).toMatch(/^error: .*no such cannot be read: there is no such file\.\n$/);
  });

  it('a symbolic link to itself', async () => {
    symlinkSync('loop', join(FOLDER, 'loop'));
    const ended = await end(['read', join(FOLDER, 'loop')]);
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).toContain('cannot be read: its symbolic links form a loop.');
  });

  it('a folder without permission to open it', async () => {
    const folder = mkdtempSync(join(FOLDER, 'locked-'));
    chmodSync(folder, 0);
    const ended = await end(['read', folder], { asAnybody: true });
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).toContain('cannot be read: permission denied.');
  });
});

describe.concurrent('folders, pipes and changing files', () => {
  it('a subfolder without permission is skipped and reported', async () => {
    const folder = mkdtempSync(join(FOLDER, 'some-'));
    writeFileSync(join(folder, 'a.log'), 'Error: boom\n');
    writeFileSync(join(folder, 'secret.log'), 'x\n', { mode: 0 });
    mkdirSync(join(folder, 'locked'), { mode: 0 });
    const ended = await end(['read', folder], { asAnybody: true });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(/^Note\tSkipped: .*locked cannot be read: permission denied\.$/m);
    expect(ended.stdout).toMatch(/^Note\tSkipped: .*secret\.log cannot be read: permission denied\.$/m);
    expect(ended.stdout).toMatch(/^Message\t1: Error: boom$/m);
  });

  it('a pipe that is named is read to its end, and pipes in folders are skipped', async () => {
    const folder = mkdtempSync(join(FOLDER, 'pipes-'));
    const pipe = join(folder, 'p.log');
    execFileSync('mkfifo', [pipe]);
    writeFileSync(join(folder, 'a.log'), 'Error: in the file\n');
    const [piped, listed] = await Promise.all([
      end(['read', pipe], {
        onStart: () => setTimeout(() => appendFileSync(pipe, 'Error: in the pipe\n'), 100),
      }),
      end(['read', folder]),
    ]);
    expect(piped.stdout).toMatch(/^Message\t1: Error: in the pipe$/m);
    expect(listed.stdout).toMatch(/^Message\t1: Error: in the file$/m);
  });

  it('Ctrl-C ends the wait for a pipe without a writer', async () => {
    const pipe = join(FOLDER, 'silent');
    execFileSync('mkfifo', [pipe]);
    const ended = await end(['triage', pipe], {
      onStart: ({ kill }) => void setTimeout(() => kill('SIGINT'), 1_500),
    });
    expect(ended.signal ?? ended.code).toBe('SIGINT');
  });

  it('a file that grows while it is read is read to its end or to the limit', async () => {
    const path = writeInput('grows.log', 'Error: boom\n');
    const timer = setInterval(() => appendFileSync(path, LINES), 20);
    const ended = await end(['read', path], { env: { FAULTLINE_MAX_LOG_BYTES: '2000000' } });
    clearInterval(timer);
    expect([0, 3]).toContain(ended.code);
    expect(ended.stderr).toMatch(ended.code === 0 ? /^$/ : /FAULTLINE_MAX_LOG_BYTES sets the limit\.$/m);
  });

  it('a file that is deleted while it is read is read completely', async () => {
    const path = writeInput('goes.log', `Error: boom\n${LINES.repeat(20)}`);
    const ended = await end(['read', path], { onStart: () => setTimeout(() => rmSync(path), 5) });
    expect([0, 3]).toContain(ended.code);
    expect(ended.code === 0 ? ended.stdout : ended.stderr).toMatch(/Error: boom|there is no such file/);
  });
});

/** Bytes without any sense, the same each time. */
function createRandomBytes(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0, state = 12_345; at < length; at++) {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    bytes[at] = state >> 16;
  }
  return bytes;
}
