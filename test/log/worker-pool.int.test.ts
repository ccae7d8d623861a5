import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { SourceText } from '../../src/domain/build.ts';
import type { TriageError } from '../../src/domain/errors.ts';
import { readCauses } from '../../src/log/causes/read-causes.ts';
import { decodeSources } from '../../src/log/decode/archive.ts';
import { surveyFiles } from '../../src/log/inventory/inventory.ts';
import { createArtifactRoom, openArtifact } from '../../src/log/inventory/open-artifact.ts';
import { maskFile } from '../../src/log/mask/file.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import { readResults } from '../../src/log/reports/report.ts';
import { createLogThreads, type LogThreads, type LogThreadsOptions } from '../../src/log/worker-pool.ts';
import { prepareSources } from '../../src/service/intake/upload.ts';
import { makeZip } from '../support/make-zip.ts';
import { THOROUGH } from '../support/thorough.ts';

const OPTIONS = { budgetTokens: 500 };
/** What a thread that breaks runs. */
const ENDS = new URL('data:text/javascript,process.exit(7)');
const SLEEPS = new URL('data:text/javascript,setInterval(() => 0, 1000)');
/** More than a busy machine takes away now and then, and less than reading so much takes. The strict figure is that of `bench read`. */
const GENEROUS_MS = 1_500;
const SECRET = `ghp_${'k7Qz2mXw9Rb4'.repeat(3)}`;

const folder = mkdtempSync(join(tmpdir(), 'faultline-threads-'));
const opened: LogThreads[] = [];
const threadsWith = (options: LogThreadsOptions = {}) => {
  const threads = createLogThreads({ small: 0, ...options });
  opened.push(threads);
  return threads;
};
const log = (text: string, name = 'build.log'): SourceText => ({ name, kind: 'log', text, notes: [] });

afterEach(async () => {
  await Promise.all(opened.splice(0).map((threads) => threads.close()));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('logs read in threads', () => {
  it('are read and masked as without threads', async () => {
    const threads = threadsWith();
    const texts = [
      `first\nerror: failed with ${SECRET}\n`,
      'nothing to hide ✗\n',
      '',
      `${SECRET.slice(0, 20)}\n${SECRET.slice(20)}\n`,
    ];
    expect(await threads.masker.maskAll(texts)).toEqual(await createMasker().maskAll(texts));
    const sources = texts.map((text, at) => log(text, `${at}.log`));
    expect(await threads.read(sources, OPTIONS)).toEqual(readCauses(sources, OPTIONS));
  });

  it('have their reports read as without threads', async () => {
    const text =
      '<testsuite name="S" tests="3"><testcase name="a"><failure message="no"/></testcase><testcase name="b"/></testsuite>';
    const reports = ['one.xml', 'two.xml'].map(
      (name): SourceText => ({ ...log(text, name), kind: 'report' }),
    );
    const expected = reports.map(({ name }) => readResults(name, text));
    expect(expected[1]).toMatchObject({
      testResults: [{ name: 'a' }, { name: 'b' }],
      notes: [expect.stringContaining('two.xml: suite S')],
    });
    expect(await threadsWith().readReports(reports)).toEqual(expected);
  });

  it('are decoded as without threads, and binary files are refused with the same message', async () => {
    const threads = threadsWith();
    const bytes = gzipSync('first\nsecond ✗\n');
    const limits = { maxBytes: 1_000 };
    expect(await threads.decode('build.log', bytes, 'log', limits)).toEqual(
      await decodeSources('build.log', bytes, 'log', limits),
    );
    expect(bytes.length).toBeGreaterThan(0);
    const large = gzipSync('x'.repeat(2_000));
    const atOnce: unknown = await decodeSources('large.log', large, 'log', limits).catch(
      (error: unknown) => error,
    );
    expect(atOnce).toMatchObject({ code: 'too-large', details: { maxBytes: 1_000 } });
    const { message, code, details } = atOnce as TriageError;
    await expect(threads.decode('large.log', large, 'log', limits)).rejects.toMatchObject({
      message,
      code,
      details,
    });
  });

  it('have artifacts opened and files inventoried as without threads', async () => {
    const threads = threadsWith();
    const members = ['b.log', 'a.log'].map((name) => ({ name, content: `Error: ${name} failed at boot\n` }));
    const [room, roomAtOnce] = [createArtifactRoom(), createArtifactRoom()];
    const bytes = makeZip(members);
    const files = await threads.openArtifact('e2e.zip', bytes, room);
    expect(files).toEqual(await openArtifact('e2e.zip', bytes, roomAtOnce));
    expect([files.length, room]).toEqual([2, roomAtOnce]);
    const sources = [log('details: logs/b.log\n', 'test.log')].concat(files);
    const surveyed = await threads.survey(sources);
    expect(surveyed).toEqual(surveyFiles(sources));
    expect(surveyed.read[0]).toBe(sources[0]);
  });

  it('have artifacts and the inventory of a build handled in threads', async () => {
    const threads = threadsWith({ entry: ENDS });
    const file = { name: 'server.log', kind: 'artifact' as const, bytes: Buffer.from('ready\n') };
    await expect(prepareSources([file], 1_000, createMasker(), threads)).rejects.toMatchObject({
      code: 'internal',
    });
    await expect(threads.survey([log('one\n'), log('two\n')])).rejects.toMatchObject({ code: 'internal' });
  });

  it('are read from their file, with what was found while masking it', async () => {
    const path = join(folder, 'file.log');
    writeFileSync(path, `${'all is well\n'.repeat(20_000)}error: cannot find module 'left-pad'\n`);
    const { close, ...file } = (await maskFile(path, createMasker())) ?? {
      close: () => undefined,
      bytes: null,
      notes: [],
    };
    if (file.bytes === null) throw new Error('the file was not opened');
    const source = { ...file, name: 'file.log', kind: 'log' as const };
    const { scan, ...unscanned } = source;
    expect(scan?.index.lineCount).toBe(20_002);
    const expected = readCauses([unscanned], OPTIONS);
    expect(expected.reading.messages).not.toEqual([]);
    expect(await threadsWith().read([source], OPTIONS)).toEqual(expected);
    close();
  });

  it('do not block the event loop, even with many megabytes of the same text', {
    timeout: 180_000,
  }, async () => {
    const threads = threadsWith();
    const text = Buffer.alloc(THOROUGH ? 105_000_000 : 21_000_000, 'error: failed\n').toString('latin1');
    await threads.masker.maskAll(['started']);
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const [masked] = await threads.masker.maskAll([text]);
    const { reading } = await threads.read([log(masked?.text ?? '')], OPTIONS);
    delay.disable();
    expect(reading.messages).toHaveLength(1);
    expect(delay.max / 1e6).toBeLessThan(GENEROUS_MS);
  });

  it('end when aborted, also those that wait', async () => {
    const threads = threadsWith({ size: 1, entry: SLEEPS });
    const [running, waiting] = [new AbortController(), new AbortController()];
    const first = threads.read([log('one\n')], OPTIONS, running.signal);
    const second = threads.read([log('two\n')], OPTIONS, waiting.signal);
    waiting.abort();
    running.abort();
    await expect(first).rejects.toMatchObject({ code: 'cancelled' });
    await expect(second).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('end at their time limit', async () => {
    await expect(
      threadsWith({ entry: SLEEPS, timeoutMs: 50 }).read([log('one\n')], OPTIONS),
    ).rejects.toMatchObject({ code: 'timeout' });
  });

  it('fail alone if their thread breaks', async () => {
    const threads = threadsWith({ entry: ENDS });
    await expect(threads.read([log('one\n')], OPTIONS)).rejects.toMatchObject({ code: 'internal' });
    await expect(threads.masker.maskAll(['two\n'])).rejects.toMatchObject({ code: 'internal' });
  });

  it('are refused if too many wait', async () => {
    const threads = threadsWith({ size: 1, entry: SLEEPS });
    const reads = Array.from({ length: 102 }, () =>
      threads.read([log('one\n')], OPTIONS).catch(({ code }: { code: string }) => code),
    );
    await expect(reads.at(-1)).resolves.toBe('rate-limited');
    await threads.close();
    expect(new Set(await Promise.all(reads.slice(0, -1)))).toEqual(new Set(['cancelled']));
    await expect(threads.read([log('late\n')], OPTIONS)).rejects.toMatchObject({ code: 'cancelled' });
  });
});
