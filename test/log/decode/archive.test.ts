import { gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TriageError } from '../../../src/domain/errors.ts';
import { decodeSources } from '../../../src/log/decode/archive.ts';
import { makeTar } from '../../support/make-tar.ts';
import { makeZip } from '../../support/make-zip.ts';

const LIMITS = { maxBytes: 4 * 1024 * 1024 };
const JUNIT = '<testsuite name="S"><testcase name="a"><failure message="no"/></testcase></testsuite>';
const open = (name: string, bytes: Uint8Array, limits = LIMITS) => decodeSources(name, bytes, 'log', limits);
const shown = async (name: string, bytes: Uint8Array) =>
  (await open(name, bytes)).map((source) => `${source.kind} ${source.name}: ${source.text.trim()}`);

describe('decodeSources', () => {
  it('reads plain or compressed text as one source with its own name', async () => {
    for (const bytes of [
      Buffer.from('hello\n'),
      gzipSync('hello\n'),
      zstdCompressSync(Buffer.from('hello\n')),
      gzipSync(gzipSync('hello\n')),
    ]) {
      expect(await open('build.log', bytes)).toEqual([
        { name: 'build.log', kind: 'log', text: 'hello\n', notes: [] },
      ]);
    }
  });

  it('recognizes a report by its content, whatever its name', async () => {
    expect(await shown('results.txt', Buffer.from(JUNIT))).toEqual([`report results.txt: ${JUNIT}`]);
  });

  it('reads logs and reports of a zip archive, sorted by name', async () => {
    const zip = makeZip([
      { name: '10_lint.txt', content: 'ten' },
      { name: '2_test.txt', content: 'two' },
      { name: 'reports/TEST-a.xml', content: JUNIT },
    ]);
    expect(await shown('run.zip', zip)).toEqual([
      'log run.zip/2_test.txt: two',
      'log run.zip/10_lint.txt: ten',
      `report run.zip/reports/TEST-a.xml: ${JUNIT}`,
    ]);
  });

  it('reads a gzip-compressed tar archive, whatever its name', async () => {
    expect(
      await shown('build.log', gzipSync(makeTar([{ name: 'out/build.log', content: 'boom\n' }]))),
    ).toEqual(['log build.log/out/build.log: boom']);
  });

  it('reads a zip in a tar.gz, and gzip in a zip', async () => {
    const zip = makeZip([{ name: 'c.log.gz', content: gzipSync('deep\n') }]);
    expect(await shown('a.tgz', gzipSync(makeTar([{ name: 'b.zip', content: zip }])))).toEqual([
      'log a.tgz/b.zip/c.log.gz: deep',
    ]);
  });

  it('skips binary files, and files that are neither log nor report, with notes', async () => {
    const zip = makeZip([
      { name: 'a.log', content: 'text\n' },
      { name: 'core.out', content: Buffer.from([0x7f, 0x45, 0x4c, 0x46, 1, 2, 3]) },
      { name: 'index.html', content: '<html></html>' },
      { name: 'pom.xml', content: '<project/>' },
    ]);
    const [first, ...rest] = await open('a.zip', zip);
    expect(rest).toEqual([]);
    expect(first?.notes).toEqual([
      'Skipped: a.zip/core.out is an ELF program, not the text of a log or report.',
      'Skipped: a.zip/pom.xml is neither a log nor a test report that can be read.',
      '1 file of a.zip that is not a log or report was skipped.',
    ]);
  });

  it('skips links and folders, and removes path traversal from names', async () => {
    const tar = makeTar([
      { name: 'logs/', type: '5' },
      { name: 'passwd.log', type: '2' },
      { name: '../../etc/a.log', content: 'fine\n' },
    ]);
    expect(await shown('a.tar', tar)).toEqual(['log a.tar/etc/a.log: fine']);
  });

  it('reads the intact part of a truncated archive or gzip stream', async () => {
    const tar = makeTar([
      { name: 'a.log', content: 'one\n' },
      { name: 'b.log', content: 'two\n'.repeat(1_000) },
    ]);
    const [first] = await open('cut.tar', tar.subarray(0, 2_000));
    expect(first).toMatchObject({
      name: 'cut.tar/a.log',
      text: 'one\n',
      notes: [expect.stringContaining('damaged tar archive')],
    });
    const lines = Array.from({ length: 5_000 }, (_, n) => `line ${n}\n`).join('');
    const [log] = await open('cut.log', gzipSync(lines).subarray(0, 4_000));
    expect(lines.startsWith(log?.text ?? '?')).toBe(true);
    expect(log?.notes).toEqual(['cut.log is gzip that was cut off: its end is missing.']);
  });
});

describe("GitHub's log archives", () => {
  const steps = [
    { name: 'build/1_Set up job.txt', content: 'setting up\n' },
    { name: 'build/3_Run tests.txt', content: 'FAIL\n' },
    { name: 'build/system.txt', content: 'runner\n' },
  ];

  it('contain the whole log of a job once, and the names of its steps', async () => {
    const sources = await open(
      'logs.zip',
      makeZip([...steps, { name: '0_build.txt', content: 'setting up\nFAIL\n' }]),
    );
    expect(sources).toEqual([
      {
        name: 'logs.zip/0_build.txt',
        kind: 'log',
        text: 'setting up\nFAIL\n',
        notes: ['logs.zip/0_build.txt has the steps "Set up job", "Run tests".'],
      },
    ]);
  });

  it('become whole logs if only the steps are present', async () => {
    const [source, ...rest] = await open('logs.zip', makeZip(steps));
    expect(rest).toEqual([]);
    expect(source).toMatchObject({ name: 'logs.zip/build.txt', text: 'setting up\nFAIL\n' });
  });
});

describe('T42, T43: hostile archives', () => {
  const nested = (depth: number): Buffer =>
    depth === 0
      ? Buffer.from('text\n')
      : makeZip([{ name: depth === 1 ? 'a.log' : 'a.zip', content: nested(depth - 1) }]);
  const bomb = Buffer.alloc(3 * 1024 * 1024, 'a');

  it.each<[string, Uint8Array, string]>([
    ['a bomb', makeZip([{ name: 'a.log', content: bomb }]), 'too-large'],
    [
      'a bomb in a zip',
      makeZip([{ name: 'b.zip', content: makeZip([{ name: 'a.log', content: bomb }]) }]),
      'too-large',
    ],
    [
      'a gzip bomb in a tar',
      makeTar([{ name: 'a.log', content: gzipSync(Buffer.alloc(50_000_000)) }]),
      'too-large',
    ],
    [
      'too many files',
      makeZip(Array.from({ length: 2_001 }, (_, n) => ({ name: `${n}.log`, content: '' }))),
      'too-large',
    ],
    [
      'too many files in a tar',
      makeTar(Array.from({ length: 2_001 }, (_, n) => ({ name: `${n}.log` }))),
      'too-large',
    ],
    [
      'too much text together',
      makeTar(
        [1, 2, 3].map((n) => ({ name: `${n}.log`, content: Buffer.alloc(1_500_000, 'line of text\n') })),
      ),
      'too-large',
    ],
    ['archives four deep', nested(4), 'unsupported-type'],
    ['gzip four times over', gzipSync(gzipSync(gzipSync(gzipSync('a')))), 'unsupported-type'],
    [
      'a size that lies',
      makeZip([{ name: 'a.log', content: 'x'.repeat(500), declaredSize: 10 }]),
      'invalid-input',
    ],
    ['encryption', makeZip([{ name: 'a.log', content: 'x', encrypted: true }]), 'invalid-input'],
    ['a name that climbs', makeZip([{ name: '../a.log', content: 'x' }]), 'invalid-input'],
    ['a cut zip', makeZip([{ name: 'a.log', content: 'x'.repeat(500) }]).subarray(0, 60), 'invalid-input'],
    ['nothing to read', makeZip([{ name: 'a.png', content: 'x' }]), 'unsupported-type'],
    ['an empty zip', makeZip([]), 'unsupported-type'],
    ['bzip2', Buffer.from('BZh91AY&SY'), 'unsupported-type'],
    ['xz', Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 0]), 'unsupported-type'],
  ])('with %s are refused', async (_, bytes, code) => {
    await expect(open('a.bin', bytes)).rejects.toMatchObject({
      code,
      retryable: false,
      message: expect.stringMatching(/\.$/),
    });
  });

  it('nested three deep are read', async () => {
    expect(await shown('x.zip', nested(3))).toEqual(['log x.zip/a.zip/a.zip/a.log: text']);
  });

  it('cause only a TriageError and never exceed the limit, whatever their bytes', async () => {
    const wholes = [
      makeZip([{ name: 'a.log', content: 'x\n'.repeat(50) }]),
      makeTar([{ name: 'a.log', content: 'x\n'.repeat(50) }]),
      gzipSync('x\n'.repeat(50)),
      zstdCompressSync(Buffer.from('x\n'.repeat(50))),
    ];
    const damaged = fc
      .tuple(
        fc.constantFrom(...wholes),
        fc.array(fc.tuple(fc.nat(2_000), fc.nat(255)), { maxLength: 6 }),
        fc.nat(2_000),
      )
      .map(([whole, changes, cut]) => {
        const bytes = Buffer.from(whole.subarray(0, cut));
        for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
        return bytes;
      });
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.uint8Array({ maxLength: 700 }), damaged), async (bytes) => {
        try {
          const sources = await open('x', bytes, { maxBytes: 80 });
          // A character takes three bytes at most where it represents one that was invalid.
          return sources.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0) <= 240;
        } catch (error) {
          return error instanceof TriageError;
        }
      }),
      { numRuns: 300 },
    );
  });
});
