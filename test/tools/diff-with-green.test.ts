import { describe, expect, it } from 'vitest';
import type { Finding } from '../../src/domain/evidence.ts';
import { extractTemplates } from '../../src/log/green/templates.ts';
import type { PassingBasis } from '../../src/ports/stores.ts';
import { sampleSubject } from '../support/subject.ts';
import { createArchive, createContext } from './sources.ts';

const BUILD = { buildId: 'bld_12', number: '12', url: null };
const GREEN = [
  '$ make',
  ...Array.from({ length: 400 }, (_, i) => `compiled unit ${i}`),
  'error: cache is cold',
  'done',
];
const basis = (lines: readonly string[]): PassingBasis => ({
  name: 'build 12',
  build: BUILD,
  templates: [extractTemplates(lines.join('\n'))],
});
const letters = (n: number): string => String(n).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '');

/** Asks of one log beside one green build, as the model would. */
function ask(
  lines: readonly string[],
  args: Record<string, unknown> = {},
  green: PassingBasis | null = basis(GREEN),
  subject = {},
) {
  const archive = createArchive({ 'build.log': lines.join('\n'), 'other.log': 'words of another job' });
  return createContext({ archive, passingBuilds: { of: async () => green } }, sampleSubject(subject))(
    'CODE_ERROR',
    'diff_with_green',
    args,
  );
}

function listLines(findings: readonly Finding[]): (readonly [number | undefined, number | undefined])[] {
  return findings.map(({ lineStart, lineEnd }) => [lineStart, lineEnd]);
}

/** Every line of a finding is the beginning of the line where the finding says. */
function expectExact(findings: readonly Finding[], lines: readonly string[]): void {
  for (const { text, lineStart = 0, lineEnd } of findings) {
    const shown = text.split('\n');
    expect(lineEnd).toBe(lineStart + shown.length - 1);
    for (const [i, line] of shown.entries()) expect(lines[lineStart + i - 1]?.startsWith(line)).toBe(true);
  }
}

describe('diff_with_green', () => {
  const RED = [
    ...GREEN.slice(0, 300),
    'error: linker gave up',
    'compiled unit 7',
    'stopped half way',
    ...GREEN.slice(300, 390),
    'bye',
  ];

  it('shows the new lines with their numbers, without known lines between distant ones', async () => {
    const { status, findings } = await ask(RED);

    expect(status).toBe('ok');
    expect(listLines(findings)).toEqual([
      [301, 303],
      [394, 394],
    ]);
    expect(findings[0]).toMatchObject({
      title: 'New since build 12 in build.log: 3 lines in all, lines 301–303',
      source: 'build.log',
      data: { newLines: 3, greenBuildId: 'bld_12', greenNumber: '12' },
    });
    expectExact(findings, RED);
  });

  it('reads only the requested lines', async () => {
    expect(listLines((await ask(RED, { from: 302, to: 350 })).findings)).toEqual([[303, 303]]);
    expect(listLines((await ask(RED, { from: 310 })).findings)).toEqual([[394, 394]]);
    expect(await ask(RED, { from: 310, to: 320 })).toMatchObject({
      status: 'empty',
      summary: 'Nothing in build.log (lines 310–320) is new since build 12.',
    });
    expect(await ask(RED, { from: 999 })).toMatchObject({ status: 'empty' });
    expect(await ask(RED, { from: 9, to: 8 })).toMatchObject({ status: 'invalid-arguments' });
  });

  it('reads the failed step without a request', async () => {
    const section = { source: 'build.log', name: 'link', lineStart: 2, lineEnd: 302, failed: true };
    const failedSections = [
      section,
      { ...section, lineStart: 290, lineEnd: 301 },
      { ...section, source: 'other.log', lineEnd: 394 },
    ];
    const { findings } = await ask(RED, {}, basis(GREEN), { failedSections });

    expect(listLines(findings)).toEqual([[301, 301]]);
    expect(findings[0]?.title).toContain('1 line in all (lines 2–302)');
  });

  it('shows at most ten ranges, eighty lines and two hundred characters of each', async () => {
    const one = (n: number) => [
      ...GREEN.slice(1, 5),
      ...Array.from({ length: 30 }, (_, i) => `${letters(n * 100 + i)} new ${'w'.repeat(300)}`),
    ];
    const lines = Array.from({ length: 20 }, (_, n) => one(n)).flat();
    const { findings } = await ask(lines);
    const shown = findings.flatMap(({ text }) => text.split('\n'));

    expect(findings).toHaveLength(10);
    expect(shown).toHaveLength(80);
    expect(Math.max(...shown.map((line) => line.length))).toBe(200);
    expect(findings[0]?.title).toContain('600 lines in all');
    expect(findings.at(-1)?.lineStart).toBe(lines.length - 29);
    expectExact(findings, lines);
  });

  it('shows short ranges completely, and long ones in the remaining space', async () => {
    const long = Array.from({ length: 200 }, (_, i) => `${letters(i)} frame`);
    const { findings } = await ask(['boom', ...GREEN.slice(0, 20), ...long]);

    expect(findings[0]).toMatchObject({ lineStart: 1, lineEnd: 1 });
    expect(findings.at(-1)?.lineEnd).toBe(21 + 79);
  });

  it('reports that no passed build is known', async () => {
    const summary = 'No known green build has build.log, so its new lines cannot be determined.';

    expect(await ask(RED, {}, null)).toMatchObject({ status: 'empty', findings: [], summary });
  });

  it('reports that nothing is new', async () => {
    expect(await ask(GREEN)).toMatchObject({
      status: 'empty',
      summary: 'Nothing in build.log is new since build 12.',
    });
  });

  it('ignores a passed build of another job', async () => {
    const summary =
      'The log of build 12 has no line in common with other.log, so it is no use for comparison.';

    expect(await ask(RED, { source: 'other.log' })).toMatchObject({ status: 'empty', summary });
  });

  it('lists the logs if the named one does not exist', async () => {
    const { status, summary } = await ask(RED, { source: 'no.log' });

    expect(status).toBe('invalid-arguments');
    expect(summary).toContain('build.log, other.log');
  });

  it('numbers the lines of a colored log with overwritten progress as stored', async () => {
    const lines = [...GREEN, '10%\r50%\r\u001b[31merror: linker gave up\u001b[0m\r', 'done'];
    const { findings } = await ask(lines);

    expect(findings).toMatchObject([
      { lineStart: GREEN.length + 1, lineEnd: GREEN.length + 1, text: 'error: linker gave up' },
    ]);
  });

  it('ends with the run', async () => {
    const archive = createArchive({ 'build.log': RED.join('\n').repeat(200) });
    const controller = new AbortController();
    const passingBuilds = {
      of: async () => {
        controller.abort();
        return basis(GREEN);
      },
    };

    await expect(
      createContext(
        { archive, passingBuilds },
        sampleSubject(),
        controller.signal,
      )('CODE_ERROR', 'diff_with_green'),
    ).rejects.toMatchObject({
      code: 'cancelled',
    });
  });
});
