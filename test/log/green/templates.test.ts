import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  extractTemplates,
  extractTemplatesInSteps,
  knowsAny,
  Templates,
} from '../../../src/log/green/templates.ts';
import { readCpuMs } from '../../support/cpu-time.ts';

const GREEN = [
  'Downloading from central: https://repo.example.org/a/1.0/a-1.0.pom',
  'Downloading from central: https://repo.example.org/b/2.1/b-2.1.jar',
  '[INFO] Running org.example.FirstTest',
  '[INFO] Running org.example.second.OtherTest',
  'parser > reads_a_1 PASSED',
  'parser > reads_b_2 PASSED',
  'Tests run: 12, Failures: 0, Errors: 0, Skipped: 1',
  "WARN: could not resolve 'left-pad'",
].join('\n');

describe('the templates of a log', () => {
  it('match lines of the same form with other names, numbers and places', () => {
    const green = extractTemplates(GREEN);
    expect(knowsAny([green], 'Downloading from central: https://repo.example.org/c/3.9/c-3.9.jar')).toBe(
      true,
    );
    expect(knowsAny([green], '[INFO] Running org.example.third.NewTest')).toBe(true);
    expect(knowsAny([green], 'Tests run: 15, Failures: 0, Errors: 0, Skipped: 2')).toBe(true);
    expect(green.lines.filter((line) => line.includes('<*>'))).toHaveLength(3);
  });

  it('match an error line only if the passed build has the same', () => {
    const green = extractTemplates(GREEN);
    expect(knowsAny([green], "WARN: could not resolve 'left-pad'")).toBe(true);
    expect(knowsAny([green], "WARN: could not resolve 'right-pad'")).toBe(false);
    const errors = extractTemplates(
      'ERROR in file src/a_1.ts on this build\nERROR in file src/b_2.ts on this build',
    );
    expect(knowsAny([errors], 'ERROR in file src/b_2.ts on this build')).toBe(true);
    expect(knowsAny([errors], 'ERROR in file src/c_3.ts on this build')).toBe(false);
    expect(knowsAny([green], 'parser > reads_c_3 FAILED')).toBe(false);
    expect(knowsAny([green], 'parser > reads_c_3 SKIPPED')).toBe(false);
  });

  it('distinguish no failures from some, and one exit code from another', () => {
    const green = extractTemplates(`${GREEN}\nprocess exited with code 0\n0 failed, 12 passed`);
    expect(knowsAny([green], 'Tests run: 12, Failures: 1, Errors: 0, Skipped: 1')).toBe(false);
    expect(knowsAny([green], 'process exited with code 137')).toBe(false);
    expect(knowsAny([green], '3 failed, 9 passed')).toBe(false);
    expect(knowsAny([green], '0 failed, 14 passed')).toBe(true);
  });

  it("give no wildcard to a log that contains the wildcard's text", () => {
    const green = extractTemplates('<*> <*> <*>\n[INFO] <*> done');
    expect(knowsAny([green], 'one_1 two_2 three_3')).toBe(false);
    expect(knowsAny([green], '[INFO] build/a.jar done')).toBe(false);
  });

  it('are plain data of limited size that can be stored as JSON', () => {
    const text = Array.from(
      { length: 5_000 },
      (_, i) => `step ${String.fromCharCode(97 + (i % 26)).repeat(1 + i / 26)} done`,
    ).join('\n');
    const green = extractTemplates(text, { templates: 100, characters: 2_000 });
    expect(green.lines.length).toBeLessThanOrEqual(100);
    expect(green.lines.join('').length).toBeLessThanOrEqual(2_000);
    expect(Templates.parse(JSON.parse(JSON.stringify(green)))).toEqual(green);
  });

  it('match every line they were made from, also after storage as JSON', () => {
    const word = fc.constantFrom(
      'Downloading',
      'a.jar',
      'b-2.jar',
      '17',
      'ok',
      'FAILED',
      'error:',
      'x_1',
      '/tmp/a/b',
      '<*>',
      '0',
      '***',
    );
    const line = fc.oneof(
      fc.array(word, { maxLength: 7 }).map((words) => words.join(' ')),
      fc.string({ maxLength: 30 }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 40 }), (lines) => {
        const clean = lines.map((other) => other.replace(/[^ -~]|\[|\d\d:/g, ''));
        const made = extractTemplates(clean.join('\n'));
        expect(extractTemplates(clean.join('\n'))).toEqual(made);
        const green = Templates.parse(JSON.parse(JSON.stringify(made)));
        for (const one of clean) expect(knowsAny([green], one)).toBe(true);
      }),
    );
  });

  it('take time proportional to the text, even if one node has many different lines', () => {
    const lines = Array.from(
      { length: 40_000 },
      (_, i) => `item_${i} x_${i * 7} y_${i * 3}.q z-${i} done at_${i}`,
    );
    const start = readCpuMs();
    const green = extractTemplates(lines.join('\n'));
    expect(readCpuMs() - start).toBeLessThan(5_000);
    expect(green.lines.length).toBeLessThan(lines.length);
  });
});

describe('the templates of several builds', () => {
  it('match a line that any of them matches', () => {
    const [left, right] = [
      extractTemplates('all good in 3s\nERROR: telemetry is off'),
      extractTemplates('retrying the upload to mirror-7'),
    ];
    expect(knowsAny([left, right], 'all good in 90s')).toBe(true);
    expect(knowsAny([left, right], 'retrying the upload to mirror-7')).toBe(true);
    expect(knowsAny([left, right], 'ERROR: disk is full')).toBe(false);
    expect(knowsAny([], 'all good in 3s')).toBe(false);
  });

  it('are the same if they are made alternately', async () => {
    const text = Array.from({ length: 9_000 }, (_, i) => `step ${i % 700} of job-${i} took ${i} ms`).join(
      '\n',
    );
    let turns = 0;
    const made = await extractTemplatesInSteps(text, async () => {
      turns++;
    });
    expect(made).toEqual(extractTemplates(text));
    expect(turns).toBe(4);
  });
});
