import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TriageError } from '../../src/domain/errors.ts';
import type { Finding } from '../../src/domain/evidence.ts';
import type { TriageSubject } from '../../src/domain/triage.ts';
import { wrapBytes } from '../../src/log/lines/bytes.ts';
import { createMemoryArchive } from '../../src/stores/archive/memory.ts';
import { sampleSubject } from '../support/subject.ts';
import { runs } from '../support/thorough.ts';
import { createArchive, createContext } from './sources.ts';

const LINES = Array.from({ length: 5_000 }, (_, index) => `line ${index + 1}`);
LINES[2_999] = '\u001b[31mKilled\u001b[0m';
const BUILD_LOG = LINES.join('\n');
const logs = { 'build.log': BUILD_LOG, 'other.log': 'first\nsecond', 'report.xml': '<testsuite/>' };
const exits = [{ code: 137, signal: null, source: 'build.log', line: 3_000 }];
const ask = (overrides: Parameters<typeof sampleSubject>[0] = { exits }) =>
  createContext({ archive: createArchive(logs) }, sampleSubject(overrides));

/** Checks that every line of a finding is where the finding says. */
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
      {
        source: 'build.log',
        lineStart: 98,
        lineEnd: 102,
        text: 'line 98\nline 99\nline 100\nline 101\nline 102',
      },
    ]);
  });

  it('shows the end of the failing step by default, or the exit', async () => {
    const step = [{ source: 'build.log', name: 'test', lineStart: 10, lineEnd: 400, failed: true }];
    const [atStep] = (await ask({ failedSections: step, exits })('INFRA_ERROR', 'read_build_log')).findings;
    const [atExit] = (await ask()('INFRA_ERROR', 'read_build_log')).findings;

    expect([atStep?.lineStart, atStep?.lineEnd]).toEqual([370, 430]);
    expect(atExit?.text).toContain('Killed');
    expectExact(atExit);
  });

  it('is limited to the log and to four thousand characters around the line', async () => {
    const wide = Array.from({ length: 300 }, (_, row) => `${row + 1} ${'w'.repeat(300)}`).join('\n');
    const wideAsk = createContext({ archive: createArchive({ 'build.log': wide }) });
    const [found] = (await wideAsk('INFRA_ERROR', 'read_build_log', { line: 150, context: 100 })).findings;

    expect(found!.text.length).toBeLessThanOrEqual(4_000);
    expect(found!.lineStart).toBeLessThanOrEqual(150);
    expect(found!.lineEnd).toBeGreaterThanOrEqual(150);
    expect(found!.text.split('\n')[0]).toBe(`${found!.lineStart} ${'w'.repeat(300)}`);
    const [last] = (await ask()('INFRA_ERROR', 'read_build_log', { line: 9_999_999, context: 1 })).findings;
    expect(last).toMatchObject({ lineStart: 4_999, lineEnd: 5_000 });
  });

  it('lists the logs if the named one does not exist', async () => {
    const outcome = await ask()('INFRA_ERROR', 'read_build_log', { source: '../../etc/passwd' });

    expect(outcome).toMatchObject({ status: 'invalid-arguments', findings: [] });
    expect(outcome.summary).toContain('build.log, other.log, report.xml');
  });

  it('is replaced by the failure history if the archive fails', async () => {
    const broken = {
      ...createArchive(logs),
      lines: async () => {
        throw new TriageError('storage-failed', 'The archive is away.', { retryable: true });
      },
    };
    const outcome = await createContext({ archive: broken })('INFRA_ERROR', 'read_build_log', { line: 5 });

    expect(outcome).toMatchObject({ status: 'empty', answeredBy: 'read_failure_history' });
  });

  it('is empty if nothing is archived', async () => {
    expect(await createContext({})('INFRA_ERROR', 'read_build_log')).toMatchObject({ status: 'empty' });
  });
});

describe('read_console_output', () => {
  it('ends just after the process ended', async () => {
    const [found] = (await ask()('INFRA_ERROR', 'read_console_output', { lines: 30 })).findings;

    expect([found?.lineStart, found?.lineEnd]).toEqual([2_981, 3_010]);
    expect(found?.text.split('\n')[19]).toBe('Killed');
    expectExact(found);
  });

  it('shows the end on request, or if no exit is known', async () => {
    const [asked] = (await ask()('CONFIG_ERROR', 'read_console_output', { from: 'tail', lines: 2 })).findings;
    const [known] = (await ask({})('DEPENDENCY_ERROR', 'read_console_output', { source: 'other.log' }))
      .findings;

    expect(asked).toMatchObject({ text: 'line 4999\nline 5000', lineStart: 4_999, lineEnd: 5_000 });
    expect(known).toMatchObject({ text: 'first\nsecond', source: 'other.log', lineStart: 1, lineEnd: 2 });
  });
});

describe('the tools that read a log of several failures', () => {
  const foreign = [
    { source: 'build.log', lineStart: 2_960, lineEnd: 2_979 },
    { source: 'build.log', lineStart: 4_995, lineEnd: 4_999 },
  ];
  const failedSections = [
    { source: 'build.log', name: 'test', lineStart: 2_990, lineEnd: 3_000, failed: true },
  ];
  const askOne = ask({ exits, failedSections, foreign });

  it('show the last output from the beginning of the failed step', async () => {
    const [found] = (await askOne('INFRA_ERROR', 'read_console_output', { lines: 80 })).findings;

    expect([found?.lineStart, found?.lineEnd]).toEqual([2_990, 3_010]);
  });

  it('show no line of another failure, and keep the numbers of the others', async () => {
    const [around] = (await askOne('INFRA_ERROR', 'read_build_log', { line: 2_980, context: 2 })).findings;
    const viewed = await askOne('CODE_ERROR', 'view_log', { from: 4_995, to: 4_999 });
    const { findings } = await askOne('CODE_ERROR', 'grep_log', { text: 'line 499' });

    expect(around).toMatchObject({ lineStart: 2_978, text: '\n\nline 2980\nline 2981\nline 2982' });
    expect(viewed.status).toBe('empty');
    expect(findings.map(({ lineStart, lineEnd }) => [lineStart, lineEnd])).toEqual([
      [499, 499],
      [4_990, 4_994],
    ]);
  });

  it('show of a report the tests of this failure', async () => {
    const report =
      '<testsuite><testcase classname="a" name="one"><failure message="1"/></testcase>' +
      '<testcase classname="a" name="two"><failure message="2"/></testcase></testsuite>';
    const askReport = createContext(
      { archive: createArchive({ ...logs, 'report.xml': report }) },
      sampleSubject({ foreign }),
    );
    const [other] = (await askReport('TEST_FAILURE', 'read_artifact', { source: 'report.xml' })).findings;

    expect(other?.text).toBe('Its failed tests belong to other failures of this build.');
  });
});

describe('grep_log', () => {
  it('finds literal text with its exact lines, adjacent ones together', async () => {
    const { findings } = await ask()('CODE_ERROR', 'grep_log', { text: 'line 499', limit: 3 });

    expect(findings.map(({ lineStart, lineEnd }) => [lineStart, lineEnd])).toEqual([
      [499, 499],
      [4_990, 4_991],
    ]);
    expect(findings[0]?.title).toContain('11 lines in all');
    for (const finding of findings) expectExact(finding);
  });

  it('treats a pattern as text, and ignores colors', async () => {
    expect(await ask()('CODE_ERROR', 'grep_log', { text: 'line .*' })).toMatchObject({ status: 'empty' });
    expect(
      (await ask()('CODE_ERROR', 'grep_log', { text: 'killed', ignoreCase: true })).findings,
    ).toMatchObject([{ lineStart: 3_000 }]);
  });

  it('returns at most twenty lines of a huge log', async () => {
    const huge = `${'the same line again\n'.repeat(400_000)}`;
    const { findings } = await createContext({ archive: createArchive({ 'build.log': huge }) })(
      'CODE_ERROR',
      'grep_log',
      { text: 'same' },
    );

    expect(findings.reduce((sum, { text }) => sum + text.split('\n').length, 0)).toBe(20);
  });
});

describe('grep_log with a pattern, context, or everywhere', () => {
  it('accepts an RE2 pattern, and explains what is wrong with an invalid one', async () => {
    const found = await ask()('CODE_ERROR', 'grep_log', { text: '^line 49\\d{2}$', pattern: true, limit: 2 });
    const wrong = await ask()('CODE_ERROR', 'grep_log', { text: '(?<=a)b', pattern: true });

    expect(found.findings).toMatchObject([{ lineStart: 4_900, lineEnd: 4_901 }]);
    expect(found.findings[0]?.title).toContain('100 lines in all');
    expect(wrong).toMatchObject({ status: 'invalid-arguments' });
  });

  it('divides the lines among the alternatives of a pattern, and states which are left out', async () => {
    const common = 'warning: unused\n'.repeat(30);
    const log = `${common}error: out of disk (a|b)\n${common}denied: no key\n`;
    const grep = createContext({ archive: createArchive({ 'build.log': log }) });
    const search = (text: string) => grep('CODE_ERROR', 'grep_log', { text, pattern: true });
    const { findings } = await search('warning|disk|denied');

    expect(findings.map(({ text }) => text).join('\n')).toContain('out of disk');
    expect(findings.map(({ text }) => text).join('\n')).toContain('denied');
    expect(findings.flatMap(({ text }) => text.split('\n'))).toHaveLength(20);
    expect(findings[0]?.title).toContain('(62 lines in all, 42 left out: 42 of “warning”)');
    const long = (await search(`unused|${'nothing like this stands here|'.repeat(5)}x`)).findings[0]?.title;
    expect(long).toMatch(/^“unused\|.{53}…” in build.log \(60 lines in all, 40 left out: 40 of “unused”\)/);
    // What stands in brackets or parentheses is one alternative.
    expect((await search('[|]b|(no key|no lock)')).findings).toHaveLength(2);
  });

  it('finds the beginning of a line after the timestamp of the CI system', async () => {
    const log = '2026-03-04T10:45:55.7632270Z E   assert 1 == 2\n2026-03-04T10:45:55.8632270Z not E   here\n';
    const { findings } = await createContext({ archive: createArchive({ 'build.log': log }) })(
      'CODE_ERROR',
      'grep_log',
      {
        text: '^E\\s+',
        pattern: true,
      },
    );
    expect(findings).toMatchObject([{ lineStart: 1, lineEnd: 1 }]);
  });

  it('is not delayed by a pattern that would backtrack forever', async () => {
    const bait = createContext({ archive: createArchive({ 'build.log': `${'a'.repeat(5_000)}!` }) });

    expect(await bait('CODE_ERROR', 'grep_log', { text: '(a+)+(a|aa)+$', pattern: true })).toMatchObject({
      status: 'empty',
    });
  });

  it('shows the surrounding lines, overlapping ones once', async () => {
    const { findings } = await ask()('CODE_ERROR', 'grep_log', {
      text: '^line (?:10|13|40)$',
      pattern: true,
      context: 1,
    });

    expect(findings.map(({ lineStart, lineEnd }) => [lineStart, lineEnd])).toEqual([
      [9, 14],
      [39, 41],
    ]);
    for (const finding of findings) expectExact(finding);
  });

  it('counts in every text of the build', async () => {
    const { findings } = await ask()('CODE_ERROR', 'grep_log', { text: 'first', everywhere: true });

    expect(findings).toMatchObject([{ source: 'other.log', lineStart: 1, text: 'first' }]);
  });
});

describe('read_artifact', () => {
  const report =
    '<testsuite name="cart"><testcase classname="cart" name="sums"><failure message="expected 10.20">x</failure></testcase></testsuite>';
  const files = { ...logs, 'TEST-cart.xml': report };
  const askFiles = (survey?: TriageSubject['survey']) =>
    createContext({ archive: createArchive(files) }, sampleSubject(survey === undefined ? {} : { survey }));

  it('lists the artifacts, with their grade in the inventory', async () => {
    const seen = {
      what: 'test report',
      grade: 'relevant',
      reason: 'it holds a failure',
      read: 'own',
      preview: '',
      lines: 1,
      bytes: 9,
    } as const;
    const survey = {
      files: [{ name: 'TEST-cart.xml', kind: 'report' as const, ...seen }],
      unlisted: 0,
      missing: [],
    };
    const [found] = (await askFiles(survey)('TEST_FAILURE', 'read_artifact')).findings;

    expect(found?.text.split('\n')).toHaveLength(4);
    expect(found?.text).toContain(
      'TEST-cart.xml: test report, 1 lines, 130 bytes, relevant (it holds a failure), read',
    );
    expect(found?.text).toContain('build.log: log, 5000 lines');
  });

  it('shows the failing cases of a report, or its lines on request', async () => {
    const cases = await askFiles()('TEST_FAILURE', 'read_artifact', { source: 'TEST-cart.xml' });
    const lines = await askFiles()('TEST_FAILURE', 'read_artifact', {
      source: 'TEST-cart.xml',
      from: 1,
      to: 1,
    });

    expect(cases.findings).toMatchObject([{ title: 'cart › sums', source: 'TEST-cart.xml' }]);
    expect(cases.findings[0]?.text).toContain('expected 10.20');
    expect(lines.findings).toMatchObject([{ text: report, lineStart: 1, lineEnd: 1 }]);
  });

  it('shows at most two hundred lines, unchanged', async () => {
    const { findings } = await askFiles()('INFRA_ERROR', 'read_artifact', {
      source: 'build.log',
      from: 4_900,
    });
    const tooMany = await askFiles()('INFRA_ERROR', 'read_artifact', {
      source: 'build.log',
      from: 1,
      to: 201,
    });

    expect(findings[0]?.lineStart).toBe(4_900);
    expect(findings.at(-1)?.lineEnd).toBe(5_000);
    for (const finding of findings) expectExact(finding);
    expect(tooMany).toMatchObject({ status: 'invalid-arguments' });
  });

  it('lists the names if the requested one does not exist', async () => {
    const outcome = await askFiles()('CODE_ERROR', 'read_artifact', { source: 'other' });

    expect(outcome).toMatchObject({ status: 'invalid-arguments' });
    expect(outcome.summary).toContain('build.log, other.log, report.xml, TEST-cart.xml');
  });
});

describe('grep_log in an archive that searches', () => {
  const inMemory = async (text: string) => {
    const archive = createMemoryArchive();
    await archive.putPieces(sampleSubject().build.id, {
      name: 'build.log',
      kind: 'log',
      bytes: wrapBytes(Buffer.from(text)),
      notes: [],
    });
    return createContext({ archive });
  };

  it('finds the same as in a text, even across chunks', async () => {
    const odd = fc.constantFrom(
      '\n',
      '\r',
      '\u0007',
      '\u0085',
      '\u001b[1m',
      '\u001b]0;t\u0007',
      'Boom',
      'b',
      'ÜB',
      'übo',
      'om',
      ' ',
      'Ü',
    );
    const text = fc.array(odd, { maxLength: 40 }).map((pieces) => pieces.join(''));
    const needle = fc.constantFrom('Boom', 'bo', 'Üb', 'übo', 'Ü Ü', 'ÜÜ');
    await fc.assert(
      fc.asyncProperty(text, needle, fc.boolean(), async (log, wanted, ignoreCase) => {
        const args = { text: wanted, ignoreCase };
        const held = await createContext({ archive: createArchive({ 'build.log': log }) })(
          'CODE_ERROR',
          'grep_log',
          args,
        );
        const searched = await (await inMemory(log))('CODE_ERROR', 'grep_log', args);

        expect(searched.findings).toEqual(held.findings);
      }),
      { numRuns: runs(100) },
    );
  });

  it('counts a line of many megabytes once', async () => {
    const { findings } = await (await inMemory(`a\n${'needle '.repeat(500_000)}\nneedle`))(
      'CODE_ERROR',
      'grep_log',
      { text: 'needle' },
    );

    expect(findings[0]?.title).toContain('2 lines in all');
    expect([findings[0]?.lineStart, findings.at(-1)?.lineEnd]).toEqual([2, 3]);
  });

  it('stops when the run ends', async () => {
    const over = AbortSignal.abort();
    const archive = { ...createArchive(logs), linesWith: () => createEndless() };
    await expect(
      createContext({ archive }, sampleSubject(), over)('CODE_ERROR', 'grep_log', { text: 'xx' }),
    ).rejects.toThrow();
  });
});

function* createEndless() {
  for (;;) yield [{ line: 1, text: 'y' }];
}

describe('view_log', () => {
  it('shows the requested lines, in as many findings as needed', async () => {
    const wide = Array.from({ length: 200 }, (_, row) => `${row + 1} ${'v'.repeat(96)}`);
    const wideAsk = createContext({ archive: createArchive({ 'build.log': wide.join('\n') }) });
    const { findings } = await wideAsk('TEST_FAILURE', 'view_log', { from: 1, to: 200 });

    expect(findings.length).toBeGreaterThan(4);
    expect(findings.flatMap(({ text }) => text.split('\n'))).toEqual(wide);
    expect(findings.map(({ lineStart }) => lineStart)).toEqual(
      findings.map((_, index) => (findings[index - 1]?.lineEnd ?? 0) + 1),
    );
  });

  it.each([{ from: 5, to: 4 }, { from: 1, to: 201 }, { from: 0, to: 3 }, { from: 1 }])(
    'refuses %j',
    async (args) => {
      expect(await ask()('CODE_ERROR', 'view_log', args)).toMatchObject({ status: 'invalid-arguments' });
    },
  );

  it('is empty after the end', async () => {
    expect(await ask()('CODE_ERROR', 'view_log', { from: 6_000, to: 6_001 })).toMatchObject({
      status: 'empty',
    });
  });
});
