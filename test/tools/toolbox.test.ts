import { describe, expect, it } from 'vitest';
import { TriageError } from '../../src/domain/errors.ts';
import { createToolbox } from '../../src/tools/toolbox.ts';
import { createTestToolbox, createTool, finding } from './sample-tools.ts';

describe('a valid call', () => {
  it('returns its findings, its duration and its number of attempts', async () => {
    const outcome = await createTestToolbox([createTool('a', async () => [finding])])('a', { path: 'x' });

    expect(outcome).toMatchObject({ status: 'ok', findings: [finding], summary: '1 finding', attempts: 1 });
    expect(outcome.call).toEqual({ tool: 'a', args: { path: 'x' }, why: 'test' });
    expect(outcome.milliseconds).toBeGreaterThanOrEqual(0);
    expect(outcome).not.toHaveProperty('answeredBy');
  });

  it('is empty if nothing was found', async () => {
    expect(await createTestToolbox([createTool('a', async () => [])])('a')).toMatchObject({
      status: 'empty',
      findings: [],
    });
  });

  it('may have null for an absent argument', async () => {
    expect(
      await createTestToolbox([createTool('a', async () => [finding])])('a', { path: null, depth: null }),
    ).toMatchObject({ status: 'ok' });
  });
});

describe('an invalid call', () => {
  it('is refused if there is no such tool', async () => {
    expect(await createTestToolbox([])('rm_rf')).toMatchObject({
      status: 'refused',
      summary: 'There is no tool named rm_rf.',
    });
  });

  it('is refused if the tool serves other categories and no reason is given', async () => {
    const put = createTestToolbox([createTool('a', async () => [finding], { serves: { INFRA_ERROR: 1 } })]);
    const outcome = await put('a', {}, undefined, '');

    expect(outcome).toMatchObject({ status: 'refused', attempts: 0, findings: [] });
    expect(outcome.summary).toContain('INFRA_ERROR');
    expect(await put('a', {}, undefined, 'the machine may have lost the file')).toMatchObject({
      status: 'ok',
    });
  });

  it('is refused by the tool itself', async () => {
    const guarded = createTool('a', async () => [finding], {
      guard: ({ path }) => (path === 'x' ? 'x is not allowed' : null),
    });

    expect(await createTestToolbox([guarded])('a', { path: 'x' })).toMatchObject({
      status: 'refused',
      summary: 'x is not allowed',
    });
    expect(await createTestToolbox([guarded])('a', { path: 'y' })).toMatchObject({ status: 'ok' });
  });

  it.each([
    [{ path: 7 }, 'path: '],
    [{ path: '' }, 'path: '],
    [{ depth: 9 }, 'depth: '],
    [{ wrong: 1 }, 'wrong'],
  ])('has invalid arguments %j, which are named', async (args, said) => {
    const outcome = await createTestToolbox([createTool('a', async () => [finding])])('a', args);

    expect(outcome).toMatchObject({ status: 'invalid-arguments', attempts: 0 });
    expect(outcome.summary).toContain(said);
  });

  it('is unavailable if nothing is configured', async () => {
    const off = createTool('a', async () => [finding], {
      findUnavailableReason: async () => 'no web search configured',
    });

    expect(await createTestToolbox([off])('a')).toMatchObject({
      status: 'unavailable',
      summary: 'no web search configured',
      findings: [],
    });
  });

  it.each([
    ['invalid-input', 'invalid-arguments'],
    ['forbidden', 'refused'],
    ['not-found', 'empty'],
    ['timeout', 'timed-out'],
    ['upstream-auth', 'failed'],
    ['too-large', 'failed'],
  ] as const)('maps the error %s to %s', async (code, status) => {
    const broken = createTool('a', async () => {
      throw new TriageError(code, 'Because.');
    });
    expect(await createTestToolbox([broken])('a')).toMatchObject({ status, summary: 'Because.' });
  });
});

describe('the result of a call', () => {
  it('has at most ten findings of four thousand characters, and a summary that says so', async () => {
    const chatty = createTool('a', async () =>
      Array.from({ length: 5_000 }, () => ({
        ...finding,
        text: 'x'.repeat(50_000),
        title: 't'.repeat(9_000),
      })),
    );
    const outcome = await createTestToolbox([chatty])('a');

    expect(outcome.findings).toHaveLength(10);
    expect(outcome.findings.every(({ text, title }) => text.length === 4_000 && title.length === 300)).toBe(
      true,
    );
    expect(outcome.summary).toBe('10 findings of 5000');
  });

  it('is cut at the end of a line, and its last line number is adjusted', async () => {
    const lines = Array.from({ length: 300 }, (_, index) => `line ${index} ${'y'.repeat(60)}`);
    const long = createTool('a', async () => [
      { ...finding, text: lines.join('\n'), lineStart: 100, lineEnd: 399 },
    ]);
    const [only] = (await createTestToolbox([long])('a')).findings;

    const kept = only!.text.split('\n');
    expect(only!.lineEnd).toBe(100 + kept.length - 1);
    expect(lines.slice(0, kept.length)).toEqual(kept);
  });

  it('has no terminal escapes and control characters, and keeps its lines', async () => {
    const coloured = createTool('a', async () => [
      {
        ...finding,
        text: '\u001b[31mERROR\u001b[0m\u0007 one\n10%\r50%\r100% done\r\n\u009b2Jthree\ttab',
        lineStart: 5,
        lineEnd: 7,
      },
    ]);
    const [only] = (await createTestToolbox([coloured])('a')).findings;

    expect(only!.text).toBe('ERROR one\n100% done\n2Jthree\ttab');
    expect(only!.lineEnd).toBe(7);
  });

  it('is masked everywhere: text, title, data and the message of an error', async () => {
    const mask = (text: string) => text.replaceAll('hunter2', '***');
    const leaky = createTool('a', async () => [
      { ...finding, text: 'pw hunter2', title: 'hunter2', data: { author: 'hunter2', line: 3 } },
    ]);
    const nested = createTool('n', async () => [
      { ...finding, data: { files: ['a', 'hunter2'], by: { name: 'hunter2' } } },
    ]);
    expect((await createTestToolbox([nested], { mask })('n')).findings[0]?.data).toEqual({
      files: ['a', '***'],
      by: { name: '***' },
    });
    const [only] = (await createTestToolbox([leaky], { mask })('a')).findings;
    expect(only).toMatchObject({ text: 'pw ***', title: '***', data: { author: '***', line: 3 } });

    const broken = createTool('a', async () => {
      throw new TriageError('upstream-failed', 'https://user:hunter2@host refused');
    });
    expect((await createTestToolbox([broken], { mask })('a')).summary).toBe('https://user:***@host refused');
  });

  it('is withheld if it cannot be masked', async () => {
    const outcome = await createTestToolbox([createTool('a', async () => [finding])], {
      mask: () => {
        throw new Error('masker is broken');
      },
    })('a');
    expect(outcome).toMatchObject({ status: 'failed', findings: [] });
    expect(outcome.summary).toContain('withheld');
  });
});

describe('many calls at once', () => {
  it('are made four at a time by default', async () => {
    const most = async (concurrency?: number) => {
      let running = 0;
      let peak = 0;
      const busy = createTool('a', async () => {
        running += 1;
        peak = Math.max(peak, running);
        await new Promise((done) => setTimeout(done, 5));
        running -= 1;
        return [finding];
      });
      const run = createTestToolbox([busy], concurrency === undefined ? {} : { concurrency });
      await Promise.all(Array.from({ length: 12 }, (_, at) => run('a', { path: `${at}` })));
      return peak;
    };
    expect(await most()).toBe(4);
    expect(await most(2)).toBe(2);
  });

  it('do not reach their time limits while they wait', async () => {
    const slow = createTool('a', async () => {
      await new Promise((done) => setTimeout(done, 60));
      return [finding];
    });
    const run = createTestToolbox([slow], { concurrency: 1, timeLimitMs: () => 100 });
    const outcomes = await Promise.all([1, 2, 3].map((at) => run('a', { path: `${at}` })));
    expect(outcomes.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
  });
});

describe('the registry', () => {
  it('offers the tools of a category, cheapest first and fallbacks last', () => {
    const none = async () => [];
    const box = createToolbox(
      [
        createTool('web', none, { fallback: true }),
        createTool('dear', none, { costClass: 'high' }),
        createTool('slow', none, { usualLatencyMs: 200 }),
        createTool('quick', none, { usualLatencyMs: 50 }),
        createTool('other', none, { serves: { TEST_FAILURE: 1 } }),
      ],
      { mask: (text) => text },
    );
    expect(box.offered('CODE_ERROR').map(({ name }) => name)).toEqual(['quick', 'slow', 'dear', 'web']);
    expect(box.describe('quick')?.parameters).toMatchObject({ type: 'object', additionalProperties: false });
    expect(box.describe('absent')).toBeNull();
  });

  it('refuses two tools with one name', () => {
    const twice = [createTool('a', async () => []), createTool('a', async () => [])];
    expect(() => createToolbox(twice, { mask: (text) => text })).toThrow('same name');
  });
});
