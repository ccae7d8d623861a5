import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryArchive } from '../../src/adapters/build-archive/memory.ts';
import { TriageError } from '../../src/domain/errors.ts';
import type { Finding } from '../../src/domain/evidence.ts';
import { bytesInMemory } from '../../src/log/lines/log-bytes.ts';
import { sampleSubject } from '../support/subject.ts';
import { archiveOf, asking } from './sources.ts';

const LINES = Array.from({ length: 5_000 }, (_, index) => `line ${index + 1}`);
LINES[2_999] = '\u001b[31mKilled\u001b[0m';
const BUILD_LOG = LINES.join('\n');
const logs = { 'build.log': BUILD_LOG, 'other.log': 'first\nsecond', 'report.xml': '<testsuite/>' };
const exits = [{ code: 137, signal: null, source: 'build.log', line: 3_000 }];
const ask = (overrides: Parameters<typeof sampleSubject>[0] = { exits }) => asking({ archive: archiveOf(logs) }, sampleSubject(overrides));

/** Every line of a finding stands where the finding says. */
function expectExact(finding: Finding | undefined): void {
  const lines = finding?.text.split('\n') ?? [];
  expect(finding?.lineEnd).toBe((finding?.lineStart ?? 0) + lines.length - 1);
  for (const [index, line] of lines.entries()) {
    const stored = LINES[(finding?.lineStart ?? 0) + index - 1] ?? '';
    expect(stored.includes(line)).toBe(true);
  }
}

describe('read_build_log', () => {
  it('shows the lines around a line', async () => {
    const { findings } = await ask()('INFRA_ERROR', 'read_build_log', { line: 100, context: 2 });

    expect(findings).toMatchObject([
      { source: 'build.log', lineStart: 98, lineEnd: 102, text: 'line 98\nline 99\nline 100\nline 101\nline 102' },
    ]);
  });

  it('shows the end of the failing step, else the exit, by itself', async () => {
    const step = [{ source: 'build.log', name: 'test', lineStart: 10, lineEnd: 400, failed: true }];
    const [atStep] = (await ask({ failedSections: step, exits })('INFRA_ERROR', 'read_build_log')).findings;
    const [atExit] = (await ask()('INFRA_ERROR', 'read_build_log')).findings;

    expect([atStep?.lineStart, atStep?.lineEnd]).toEqual([370, 430]);
    expect(atExit?.text).toContain('Killed');
    expectExact(atExit);
  });

  it('clips to the log and to four thousand characters around the line', async () => {
    const wide = Array.from({ length: 300 }, (_, row) => `${row + 1} ${'w'.repeat(300)}`).join('\n');
    const wideAsk = asking({ archive: archiveOf({ 'build.log': wide }) });
    const [found] = (await wideAsk('INFRA_ERROR', 'read_build_log', { line: 150, context: 100 })).findings;

    expect(found!.text.length).toBeLessThanOrEqual(4_000);
    expect(found!.lineStart).toBeLessThanOrEqual(150);
    expect(found!.lineEnd).toBeGreaterThanOrEqual(150);
    expect(found!.text.split('\n')[0]).toBe(`${found!.lineStart} ${'w'.repeat(300)}`);
    const [last] = (await ask()('INFRA_ERROR', 'read_build_log', { line: 9_999_999, context: 1 })).findings;
    expect(last).toMatchObject({ lineStart: 4_999, lineEnd: 5_000 });
  });

  it('tells which logs there are where the named one is not', async () => {
    const outcome = await ask()('INFRA_ERROR', 'read_build_log', { source: '../../etc/passwd' });

    expect(outcome).toMatchObject({ status: 'invalid-arguments', findings: [] });
    expect(outcome.summary).toContain('build.log, other.log, report.xml');
  });

  it('hands over to the failure history where the archive fails', async () => {
    const broken = {
      ...archiveOf(logs),
      lines: async () => {
        throw new TriageError('storage-failed', 'The archive is away.', { retryable: true });
      },
    };
    const outcome = await asking({ archive: broken })('INFRA_ERROR', 'read_build_log', { line: 5 });

    expect(outcome).toMatchObject({ status: 'empty', answeredBy: 'read_failure_history' });
  });

  it('is empty where nothing is archived', async () => {
    expect(await asking({})('INFRA_ERROR', 'read_build_log')).toMatchObject({ status: 'empty' });
  });
});

describe('read_console_output', () => {
  it('ends just after the process ended', async () => {
    const [found] = (await ask()('INFRA_ERROR', 'read_console_output', { lines: 30 })).findings;

    expect([found?.lineStart, found?.lineEnd]).toEqual([2_981, 3_010]);
    expect(found?.text.split('\n')[19]).toBe('Killed');
    expectExact(found);
  });

  it('shows the tail where asked, or where no exit is known', async () => {
    const [asked] = (await ask()('CONFIG_ERROR', 'read_console_output', { from: 'tail', lines: 2 })).findings;
    const [known] = (await ask({})('DEPENDENCY_ERROR', 'read_console_output', { source: 'other.log' })).findings;

    expect(asked).toMatchObject({ text: 'line 4999\nline 5000', lineStart: 4_999, lineEnd: 5_000 });
    expect(known).toMatchObject({ text: 'first\nsecond', source: 'other.log', lineStart: 1, lineEnd: 2 });
  });
});

describe('grep_log', () => {
  it('finds literal text with its exact lines, neighbours together', async () => {
    const { findings } = await ask()('CODE_ERROR', 'grep_log', { text: 'line 499', limit: 3 });

    expect(findings.map(({ lineStart, lineEnd }) => [lineStart, lineEnd])).toEqual([
      [499, 499],
      [4_990, 4_991],
    ]);
    expect(findings[0]?.title).toContain('11 lines in all');
    for (const finding of findings) expectExact(finding);
  });

  it('takes a pattern for text, and sees no colours', async () => {
    expect(await ask()('CODE_ERROR', 'grep_log', { text: 'line .*' })).toMatchObject({ status: 'empty' });
    expect((await ask()('CODE_ERROR', 'grep_log', { text: 'killed', ignoreCase: true })).findings).toMatchObject([{ lineStart: 3_000 }]);
  });

  it('returns at most twenty lines of a huge log', async () => {
    const huge = `${'the same line again\n'.repeat(400_000)}`;
    const { findings } = await asking({ archive: archiveOf({ 'build.log': huge }) })('CODE_ERROR', 'grep_log', { text: 'same' });

    expect(findings.reduce((sum, { text }) => sum + text.split('\n').length, 0)).toBe(20);
  });
});

describe('grep_log in an archive that searches', () => {
  const inMemory = async (text: string) => {
    const archive = createMemoryArchive();
    await archive.putPieces(sampleSubject().build.id, {
      name: 'build.log',
      kind: 'log',
      bytes: bytesInMemory(Buffer.from(text)),
      notes: [],
    });
    return asking({ archive });
  };

  it('finds what is found in a text, whatever interrupts it', async () => {
    const odd = fc.constantFrom('\n', '\r', '\u0007', '\u0085', '\u001b[1m', '\u001b]0;t\u0007', 'Boom', 'b', 'ÜB', 'übo', 'om', ' ', 'Ü');
    const text = fc.array(odd, { maxLength: 40 }).map((pieces) => pieces.join(''));
    const needle = fc.constantFrom('Boom', 'bo', 'Üb', 'übo', 'Ü Ü', 'ÜÜ');
    await fc.assert(
      fc.asyncProperty(text, needle, fc.boolean(), async (log, wanted, ignoreCase) => {
        const args = { text: wanted, ignoreCase };
        const held = await asking({ archive: archiveOf({ 'build.log': log }) })('CODE_ERROR', 'grep_log', args);
        const searched = await (await inMemory(log))('CODE_ERROR', 'grep_log', args);

        expect(searched.findings).toEqual(held.findings);
      }),
      { numRuns: 100 },
    );
  });

  it('counts the line of many megabytes once', async () => {
    const { findings } = await (await inMemory(`a\n${'needle '.repeat(500_000)}\nneedle`))('CODE_ERROR', 'grep_log', { text: 'needle' });

    expect(findings[0]?.title).toContain('2 lines in all');
    expect([findings[0]?.lineStart, findings.at(-1)?.lineEnd]).toEqual([2, 3]);
  });

  it('stops when the run is over', async () => {
    const over = AbortSignal.abort();
    const archive = { ...archiveOf(logs), linesWith: () => endless() };
    await expect(asking({ archive }, sampleSubject(), over)('CODE_ERROR', 'grep_log', { text: 'xx' })).rejects.toThrow();
  });
});

function* endless() {
  for (;;) yield [{ line: 1, text: 'y' }];
}

describe('view_log', () => {
  it('shows the asked lines, in as many findings as they need', async () => {
    const wide = Array.from({ length: 200 }, (_, row) => `${row + 1} ${'v'.repeat(96)}`);
    const wideAsk = asking({ archive: archiveOf({ 'build.log': wide.join('\n') }) });
    const { findings } = await wideAsk('TEST_FAILURE', 'view_log', { from: 1, to: 200 });

    expect(findings.length).toBeGreaterThan(4);
    expect(findings.flatMap(({ text }) => text.split('\n'))).toEqual(wide);
    expect(findings.map(({ lineStart }) => lineStart)).toEqual(findings.map((_, index) => (findings[index - 1]?.lineEnd ?? 0) + 1));
  });

  it.each([{ from: 5, to: 4 }, { from: 1, to: 201 }, { from: 0, to: 3 }, { from: 1 }])('refuses %j', async (args) => {
    expect(await ask()('CODE_ERROR', 'view_log', args)).toMatchObject({ status: 'invalid-arguments' });
  });

  it('is empty past the end', async () => {
    expect(await ask()('CODE_ERROR', 'view_log', { from: 6_000, to: 6_001 })).toMatchObject({ status: 'empty' });
  });
});
