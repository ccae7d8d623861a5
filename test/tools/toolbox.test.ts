import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { TriageError } from '../../src/domain/errors.ts';
import type { Finding } from '../../src/domain/evidence.ts';
import { defineTool, type Tool, type ToolContext, type ToolDefinition } from '../../src/tools/tool.ts';
import { createToolbox, type ToolboxOptions } from '../../src/tools/toolbox.ts';
import { sampleSubject } from '../support/subject.ts';

const subject = sampleSubject();
const signal = new AbortController().signal;
const finding: Finding = { title: 'found', text: 'text', source: 'somewhere' };
const flaky = (retryAfterMs?: number) =>
  new TriageError('upstream-failed', 'It answered 503.', { retryable: true, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });

const Parameters = z.strictObject({ path: z.string().min(1).optional(), depth: z.int().max(5).optional() });

function tool(
  name: string,
  run: (context: ToolContext, asked: number) => Promise<Finding[]>,
  rest: Partial<ToolDefinition<typeof Parameters>> = {},
): Tool {
  let asked = 0;
  return defineTool({
    name,
    question: `What does ${name} say?`,
    categories: ['CODE_ERROR'],
    costClass: 'low',
    usualLatencyMs: 100,
    provider: `provider:${name}`,
    parameters: Parameters,
    ...rest,
    run: (_args, context) => {
      asked += 1;
      return run(context, asked);
    },
  });
}

function toolbox(tools: Tool[], options: Partial<ToolboxOptions> = {}) {
  const box = createToolbox(tools, { mask: (text) => text, resilience: { firstDelayMs: 2 }, ...options });
  return (name: string, args: Record<string, unknown> = {}, over: AbortSignal = signal) =>
    box.run({ tool: name, args, why: 'test' }, subject, 'CODE_ERROR', over);
}

describe('a question that can be answered', () => {
  it('brings its findings, how long it took and how often it was asked', async () => {
    const outcome = await toolbox([tool('a', async () => [finding])])('a', { path: 'x' });

    expect(outcome).toMatchObject({ status: 'ok', findings: [finding], summary: '1 finding', attempts: 1 });
    expect(outcome.call).toEqual({ tool: 'a', args: { path: 'x' }, why: 'test' });
    expect(outcome.milliseconds).toBeGreaterThanOrEqual(0);
    expect(outcome).not.toHaveProperty('answeredBy');
  });

  it('is empty where nothing was found', async () => {
    expect(await toolbox([tool('a', async () => [])])('a')).toMatchObject({ status: 'empty', findings: [] });
  });

  it('takes null for an absent argument', async () => {
    expect(await toolbox([tool('a', async () => [finding])])('a', { path: null, depth: null })).toMatchObject({ status: 'ok' });
  });
});

describe('a question that may not be put', () => {
  it('is refused where there is no such tool', async () => {
    expect(await toolbox([])('rm_rf')).toMatchObject({ status: 'refused', summary: 'There is no tool named rm_rf.' });
  });

  it('is refused where the tool serves other categories', async () => {
    const outcome = await toolbox([tool('a', async () => [finding], { categories: ['INFRA_ERROR'] })])('a');

    expect(outcome).toMatchObject({ status: 'refused', attempts: 0, findings: [] });
    expect(outcome.summary).toContain('INFRA_ERROR');
  });

  it('is refused by the tool itself', async () => {
    const guarded = tool('a', async () => [finding], { guard: ({ path }) => (path === 'x' ? 'x is not allowed' : null) });

    expect(await toolbox([guarded])('a', { path: 'x' })).toMatchObject({ status: 'refused', summary: 'x is not allowed' });
    expect(await toolbox([guarded])('a', { path: 'y' })).toMatchObject({ status: 'ok' });
  });

  it.each([
    [{ path: 7 }, 'path: '],
    [{ path: '' }, 'path: '],
    [{ depth: 9 }, 'depth: '],
    [{ wrong: 1 }, 'wrong'],
  ])('has invalid arguments %j and says which', async (args, said) => {
    const outcome = await toolbox([tool('a', async () => [finding])])('a', args);

    expect(outcome).toMatchObject({ status: 'invalid-arguments', attempts: 0 });
    expect(outcome.summary).toContain(said);
  });

  it('is unavailable where nothing is configured', async () => {
    const off = tool('a', async () => [finding], { unavailable: async () => 'no web search configured' });

    expect(await toolbox([off])('a')).toMatchObject({ status: 'unavailable', summary: 'no web search configured', findings: [] });
  });

  it.each([
    ['invalid-input', 'invalid-arguments'],
    ['forbidden', 'refused'],
    ['not-found', 'empty'],
    ['timeout', 'timed-out'],
    ['upstream-auth', 'failed'],
    ['too-large', 'failed'],
  ] as const)('turns the error %s into %s', async (code, status) => {
    const broken = tool('a', async () => {
      throw new TriageError(code, 'Because.');
    });
    expect(await toolbox([broken])('a')).toMatchObject({ status, summary: 'Because.' });
  });
});

describe('a tool that fails', () => {
  it('is asked again after transient errors, up to three times', async () => {
    const healing = tool('a', async (_context, asked) => {
      if (asked < 4) throw flaky();
      return [finding];
    });
    expect(await toolbox([healing])('a')).toMatchObject({ status: 'ok', attempts: 4 });

    const hopeless = tool('a', async () => {
      throw flaky();
    });
    expect(await toolbox([hopeless])('a')).toMatchObject({ status: 'failed', attempts: 4, summary: 'It answered 503.' });
  });

  it.each(['upstream-auth', 'quota-exhausted', 'invalid-input'] as const)('is never asked again after %s', async (code) => {
    const refusing = tool('a', async () => {
      throw new TriageError(code, 'No.');
    });
    expect(await toolbox([refusing])('a')).toMatchObject({ attempts: 1 });
  });

  it('is never asked again after an error that nobody expected', async () => {
    const buggy = tool('a', async () => {
      throw new RangeError('off by one');
    });
    expect(await toolbox([buggy])('a')).toMatchObject({ status: 'failed', attempts: 1, summary: 'off by one' });
  });

  it('waits as long as the other side demands', async () => {
    const limited = tool('a', async (_context, asked) => {
      if (asked === 1) throw flaky(80);
      return [finding];
    });
    const outcome = await toolbox([limited])('a');

    expect(outcome).toMatchObject({ status: 'ok', attempts: 2 });
    expect(outcome.milliseconds).toBeGreaterThanOrEqual(75);
  });

  it('does not wait where the demanded pause is longer than its time limit', async () => {
    const limited = tool('a', async () => {
      throw flaky(60_000);
    });
    expect(await toolbox([limited], { timeLimitMs: () => 500 })('a')).toMatchObject({ status: 'failed', attempts: 1 });
  });

  it('is timed out, even where it ignores its signal', async () => {
    const deaf = tool('a', () => new Promise<Finding[]>(() => undefined));

    expect(await toolbox([deaf], { timeLimitMs: () => 40 })('a')).toMatchObject({
      status: 'timed-out',
      summary: 'No answer within 40 ms.',
    });
  });

  it('is given a signal that ends with its time limit', async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const polite = tool('a', async (context) => {
      await new Promise((done) => context.signal.addEventListener('abort', done));
      resolve(true);
      return [];
    });
    await toolbox([polite], { timeLimitMs: () => 30 })('a');

    expect(await promise).toBe(true);
  });

  it('lets a cancelled run end at once', async () => {
    const controller = new AbortController();
    const slow = tool('a', () => new Promise<Finding[]>(() => undefined));
    const asked = toolbox([slow])('a', {}, controller.signal);
    controller.abort();

    await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
  });
});

describe('the circuit breaker', () => {
  it('opens for a provider after failures in a row, and tries again after a rest', async () => {
    let asked = 0;
    let healthy = false;
    const shaky = tool('a', async () => {
      asked += 1;
      if (!healthy) throw flaky();
      return [finding];
    });
    const run = toolbox([shaky], { resilience: { firstDelayMs: 1, breakAfter: 6, restMs: 500 } });

    await run('a');
    const second = await run('a');
    expect(second).toMatchObject({ status: 'failed', attempts: 2 });
    expect(second.summary).toContain('left alone for a while');
    expect(await run('a')).toMatchObject({ status: 'failed', attempts: 0 });
    expect(asked).toBe(6);

    healthy = true;
    await new Promise((done) => setTimeout(done, 550));
    expect(await run('a')).toMatchObject({ status: 'ok', attempts: 1 });
  });

  it('is shared by the tools of a provider, and leaves others alone', async () => {
    const failing = async () => {
      throw flaky();
    };
    const run = toolbox(
      [
        tool('a', failing, { provider: 'shared' }),
        tool('b', async () => [finding], { provider: 'shared' }),
        tool('c', async () => [finding], { provider: 'other' }),
      ],
      { resilience: { firstDelayMs: 1, breakAfter: 4, restMs: 10_000 } },
    );
    await run('a');

    expect(await run('b')).toMatchObject({ status: 'failed', attempts: 0 });
    expect(await run('c')).toMatchObject({ status: 'ok' });
  });

  it('does not open for questions that were wrong', async () => {
    const strict = tool('a', async () => {
      throw new TriageError('invalid-input', 'No such log.');
    });
    const run = toolbox([strict], { resilience: { breakAfter: 2 } });
    for (let round = 0; round < 5; round += 1) expect(await run('a')).toMatchObject({ status: 'invalid-arguments', attempts: 1 });
  });
});

describe('the alternative tool', () => {
  const broken = (rest: Partial<ToolDefinition<typeof Parameters>> = {}) =>
    tool(
      'a',
      async () => {
        throw flaky();
      },
      { alternative: { tool: 'b', args: (call) => ({ path: `instead of ${call.args.path}` }) }, ...rest },
    );

  it('answers where the first one could not, and is named', async () => {
    let seen: unknown;
    const second = tool('b', async () => [finding], {
      guard: (args) => {
        seen = args;
        return null;
      },
    });
    const outcome = await toolbox([broken(), second])('a', { path: 'x' });

    expect(outcome).toMatchObject({ status: 'ok', answeredBy: 'b', attempts: 5, findings: [finding] });
    expect(outcome.call.tool).toBe('a');
    expect(outcome.summary).toBe('It answered 503. Instead, b: 1 finding');
    expect(seen).toEqual({ path: 'instead of x' });
  });

  it('leaves the first failure standing where it fails too', async () => {
    const alsoBroken = tool('b', async () => [finding], { unavailable: async () => 'nothing configured' });
    const outcome = await toolbox([broken(), alsoBroken])('a');

    expect(outcome).toMatchObject({ status: 'failed', summary: 'It answered 503. b could not help either: nothing configured' });
    expect(outcome).not.toHaveProperty('answeredBy');
  });

  it('obeys the category like any other tool', async () => {
    const elsewhere = tool('b', async () => [finding], { categories: ['TEST_FAILURE'] });

    expect(await toolbox([broken(), elsewhere])('a')).toMatchObject({ status: 'failed', findings: [] });
  });

  it('is not asked after a refusal, an empty answer or wrong arguments', async () => {
    const second = tool('b', async () => [finding]);
    const empty = tool('a', async () => [], { alternative: { tool: 'b', args: () => ({}) } });

    expect(await toolbox([empty, second])('a')).toMatchObject({ status: 'empty' });
    expect(await toolbox([empty, second])('a', { path: 1 })).toMatchObject({ status: 'invalid-arguments' });
  });
});

describe('what comes back', () => {
  it('is at most ten findings of four thousand characters, and the summary tells', async () => {
    const chatty = tool('a', async () =>
      Array.from({ length: 5_000 }, () => ({ ...finding, text: 'x'.repeat(50_000), title: 't'.repeat(9_000) })),
    );
    const outcome = await toolbox([chatty])('a');

    expect(outcome.findings).toHaveLength(10);
    expect(outcome.findings.every(({ text, title }) => text.length === 4_000 && title.length === 300)).toBe(true);
    expect(outcome.summary).toBe('10 findings of 5000');
  });

  it('is cut at the end of a line, and its last line number follows', async () => {
    const lines = Array.from({ length: 300 }, (_, index) => `line ${index} ${'y'.repeat(60)}`);
    const long = tool('a', async () => [{ ...finding, text: lines.join('\n'), lineStart: 100, lineEnd: 399 }]);
    const [only] = (await toolbox([long])('a')).findings;

    const kept = only!.text.split('\n');
    expect(only!.lineEnd).toBe(100 + kept.length - 1);
    expect(lines.slice(0, kept.length)).toEqual(kept);
  });

  it('has no terminal escapes and control characters, and keeps its lines', async () => {
    const coloured = tool('a', async () => [
      { ...finding, text: '\u001b[31mERROR\u001b[0m\u0007 one\n10%\r50%\r100% done\r\n\u009b2Jthree\ttab', lineStart: 5, lineEnd: 7 },
    ]);
    const [only] = (await toolbox([coloured])('a')).findings;

    expect(only!.text).toBe('ERROR one\n100% done\n2Jthree\ttab');
    expect(only!.lineEnd).toBe(7);
  });

  it('is masked everywhere: text, title, data and the message of an error', async () => {
    const mask = (text: string) => text.replaceAll('hunter2', '***');
    const leaky = tool('a', async () => [{ ...finding, text: 'pw hunter2', title: 'hunter2', data: { author: 'hunter2', line: 3 } }]);
    const [only] = (await toolbox([leaky], { mask })('a')).findings;
    expect(only).toMatchObject({ text: 'pw ***', title: '***', data: { author: '***', line: 3 } });

    const broken = tool('a', async () => {
      throw new TriageError('upstream-failed', 'https://user:hunter2@host refused');
    });
    expect((await toolbox([broken], { mask })('a')).summary).toBe('https://user:***@host refused');
  });

  it('is withheld where it cannot be masked', async () => {
    const outcome = await toolbox([tool('a', async () => [finding])], {
      mask: () => {
        throw new Error('masker is broken');
      },
    })('a');
    expect(outcome).toMatchObject({ status: 'failed', findings: [] });
    expect(outcome.summary).toContain('withheld');
  });
});

describe('the registry', () => {
  it('offers the tools of a category, cheapest first and fallbacks last', () => {
    const none = async () => [];
    const box = createToolbox(
      [
        tool('web', none, { fallback: true }),
        tool('dear', none, { costClass: 'high' }),
        tool('slow', none, { usualLatencyMs: 200 }),
        tool('quick', none, { usualLatencyMs: 50 }),
        tool('other', none, { categories: ['TEST_FAILURE'] }),
      ],
      { mask: (text) => text },
    );
    expect(box.offered('CODE_ERROR').map(({ name }) => name)).toEqual(['quick', 'slow', 'dear', 'web']);
    expect(box.describe('quick')?.parameters).toMatchObject({ type: 'object', additionalProperties: false });
    expect(box.describe('absent')).toBeNull();
  });

  it('refuses two tools of one name', () => {
    const twice = [tool('a', async () => []), tool('a', async () => [])];
    expect(() => createToolbox(twice, { mask: (text) => text })).toThrow('same name');
  });
});
