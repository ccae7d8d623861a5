import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PlaceOrder, PlaceSource } from '../../src/app/place-tools.ts';
import { openToolThread, type ThreadToolbox } from '../../src/app/tool-thread.ts';
import { readConfig } from '../../src/cli/settings.ts';
import { sampleBuild, sampleSubject } from '../support/subject.ts';
import { THOROUGH } from '../support/thorough.ts';

/** Far more than a turn takes on a busy machine, and far less than the work takes on the same thread. */
const GENEROUS_MS = 400;
const FILES = THOROUGH ? 100_000 : 20_000;
const FOLDERS = 100;
const LINE_BYTES = 50_000_000;
const never = new AbortController().signal;
const LOOPS = new URL(
  `data:text/javascript,${encodeURIComponent(
    "import { parentPort } from 'node:worker_threads';" +
      "parentPort.postMessage({ tools: [] }); parentPort.on('message', () => { for (;;); });",
  )}`,
);
const ENDS = new URL(
  `data:text/javascript,${encodeURIComponent(
    "import { parentPort } from 'node:worker_threads';" +
      "parentPort.postMessage({ tools: [] }); parentPort.on('message', () => process.exit(1));",
  )}`,
);
const BROKEN = new URL(
  `data:text/javascript,${encodeURIComponent(
    "import { parentPort } from 'node:worker_threads';" +
      "parentPort.on('message', () => undefined); parentPort.postMessage({ broken: 'no such place' });",
  )}`,
);

let root = '';
const opened: ThreadToolbox[] = [];
const subject = sampleSubject({ build: sampleBuild({ repository: 'large', commit: 'folder' }) });
const createOrder = (source: PlaceSource): PlaceOrder => {
  const { codeHost, embedder, analyst, triage } = readConfig(join(root, 'data'));
  return { source, config: { codeHost, embedder, analyst, triage }, masking: {} };
};
const open = async (source: PlaceSource, entry?: URL) => {
  const tools = await openToolThread(createOrder(source), entry === undefined ? {} : { entry, graceMs: 50 });
  opened.push(tools);
  return tools;
};
const call = (tool: string, args: Record<string, unknown>) => ({ tool, args, why: 'a test' });

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'faultline-large-'));
  for (let folder = 0; folder < FOLDERS; folder += 1) {
    mkdirSync(join(root, 'large', `packages/package-${folder}/src`), { recursive: true });
    for (let file = 0; file < FILES / FOLDERS; file += 1)
      writeFileSync(
        join(root, 'large', `packages/package-${folder}/src/module-${file}.ts`),
        `export function read${folder}x${file}() {\n  return ${file};\n}\n`,
      );
  }
  const line = Buffer.alloc(LINE_BYTES, 'lorem ipsum ');
  writeFileSync(join(root, 'large/line.txt'), line);
  mkdirSync(join(root, 'papers'));
  writeFileSync(join(root, 'papers/line.md'), line.subarray(0, 30_000_000));
  writeFileSync(join(root, 'papers/too-large.md'), line);
  writeFileSync(join(root, 'papers/terms.md'), '# Terms\n\nThe deposit is 721 units, see line.md.\n');
}, 120_000);
afterAll(async () => {
  for (const tools of opened) await tools.close();
  await rm(root, { recursive: true, force: true });
});

describe('the tools for questions about code', { timeout: 300_000 }, () => {
  it('do not block other work while they read 20,000 files and a line of 50 MB', async () => {
    const tools = await open({ kind: 'folder', name: 'large', path: join(root, 'large') });
    const calls = [
      call('list_files', { globs: ['**/module-9{1,2}*.ts', 'packages/*/src/**'], limit: 200 }),
      call('describe_stack', {}),
      call('read_repository_docs', {}),
      call('find_definition', { name: 'read7x7' }),
      call('search_code', { text: '(lorem|ipsum) +(dolor|read99x9)', pattern: true }),
    ];
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const outcomes = [];
    for (const each of calls) outcomes.push(await tools.run(each, subject, 'CODE_ERROR', never));
    delay.disable();
    expect(outcomes.map(({ status, summary }) => `${status}: ${summary}`)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^ok/)]),
    );
    expect(outcomes[3]?.findings[0]?.title).toContain(
      'packages/package-7/src/module-7.ts:1 defines the function read7x7',
    );
    expect(delay.max / 1e6).toBeLessThan(GENEROUS_MS);
  });

  it('do not block other work while they rank documents of 30 MB in one line', async () => {
    const source = { kind: 'documents', path: join(root, 'papers'), threads: 4, previewCharacters: 500 };
    const tools = await open({ ...source, kind: 'documents' });
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const question = 'what is the deposit?';
    const scanned = await tools.run(call('scan_documents', { question }), subject, 'CODE_ERROR', never);
    const found = await tools.run(
      call('search_documents', { words: question }),
      subject,
      'CODE_ERROR',
      never,
    );
    delay.disable();
    expect(scanned.findings[0]?.text).toContain('UNREAD too-large.md: it is larger than 32 MB');
    expect(found.findings[0]?.text).toBe('The deposit is 721 units, see line.md.');
    expect(delay.max / 1e6).toBeLessThan(GENEROUS_MS);
  });

  it('stop at once when aborted, even inside a loop, and answer the next call', async () => {
    const tools = await open({ kind: 'folder', name: 'large', path: root }, LOOPS);
    for (const _again of [1, 2]) {
      const stopping = new AbortController();
      const asked = tools.run(call('list_files', {}), subject, 'CODE_ERROR', stopping.signal);
      stopping.abort();
      await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
    }
  });

  it('report a failed outcome if their thread ends, and start again', async () => {
    const tools = await open({ kind: 'folder', name: 'large', path: root }, ENDS);
    for (const _again of [1, 2]) {
      const outcome = await tools.run(call('list_files', {}), subject, 'CODE_ERROR', never);
      expect(outcome).toMatchObject({ status: 'failed', summary: expect.stringContaining('thread ended') });
    }
  });

  it('leave no thread behind if they cannot be opened', async () => {
    const ended = new Promise((resolve) => process.once('worker', (worker) => worker.once('exit', resolve)));
    await expect(open({ kind: 'folder', name: 'large', path: root }, BROKEN)).rejects.toMatchObject({
      code: 'invalid-config',
      message: 'The tools could not be opened: no such place',
    });
    expect(await ended).toBe(1);
  });
});
