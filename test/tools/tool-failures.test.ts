import { describe, expect, it } from 'vitest';
import { TriageError } from '../../src/domain/errors.ts';
import type { Finding } from '../../src/domain/evidence.ts';
import type { ToolDefinition } from '../../src/tools/tool.ts';
import { createTestToolbox, createTool, finding, flaky, type Parameters } from './sample-tools.ts';

describe('a tool that fails', () => {
  it('is called again after transient errors, up to three times', async () => {
    const healing = createTool('a', async (_context, asked) => {
      if (asked < 4) throw flaky();
      return [finding];
    });
    expect(await createTestToolbox([healing])('a')).toMatchObject({ status: 'ok', attempts: 4 });

    const hopeless = createTool('a', async () => {
      throw flaky();
    });
    expect(await createTestToolbox([hopeless])('a')).toMatchObject({
      status: 'failed',
      attempts: 4,
      summary: 'It answered 503.',
    });
  });

  it.each(['upstream-auth', 'quota-exhausted', 'invalid-input'] as const)(
    'is never called again after %s',
    async (code) => {
      const refusing = createTool('a', async () => {
        throw new TriageError(code, 'No.');
      });
      expect(await createTestToolbox([refusing])('a')).toMatchObject({ attempts: 1 });
    },
  );

  it.each(['upstream-auth', 'quota-exhausted', 'invalid-input'] as const)(
    'is not called again after %s, even if the error claims to be retryable',
    async (code) => {
      const refusing = createTool('a', async () => {
        throw new TriageError(code, 'No.', { retryable: true, retryAfterMs: 1 });
      });
      expect(await createTestToolbox([refusing])('a')).toMatchObject({ attempts: 1 });
    },
  );

  it('is never called again after an unexpected error', async () => {
    const buggy = createTool('a', async () => {
      throw new RangeError('off by one');
    });
    expect(await createTestToolbox([buggy])('a')).toMatchObject({
      status: 'failed',
      attempts: 1,
      summary: 'off by one',
    });
  });

  it('is called again after the delay that the server requests', async () => {
    const limited = createTool('a', async (_context, asked) => {
      if (asked === 1) throw flaky(80);
      return [finding];
    });
    const outcome = await createTestToolbox([limited])('a');

    expect(outcome).toMatchObject({ status: 'ok', attempts: 2 });
    expect(outcome.milliseconds).toBeGreaterThanOrEqual(75);
  });

  it('is not waited for if the requested delay is longer than its time limit', async () => {
    const limited = createTool('a', async () => {
      throw flaky(60_000);
    });
    expect(await createTestToolbox([limited], { timeLimitMs: () => 500 })('a')).toMatchObject({
      status: 'failed',
      attempts: 1,
    });
  });

  it('is paused as long as it requested if that is longer, with others of its provider', async () => {
    const limited = createTool(
      'a',
      async () => {
        throw flaky(400);
      },
      { provider: 'shared' },
    );
    const other = createTool('b', async () => [finding], { provider: 'shared' });
    const run = createTestToolbox([limited, other], { timeLimitMs: () => 200 });
    await run('a');

    const second = await run('b');
    expect(second).toMatchObject({ status: 'failed', attempts: 0 });
    expect(second.summary).toContain('asked to wait');
    await new Promise((done) => setTimeout(done, 450));
    expect(await run('b')).toMatchObject({ status: 'ok' });
  });

  it('returns data even if its own check or its alternative throws', async () => {
    const breaks = () => {
      throw new RangeError('off by one');
    };
    const guarded = createTool('a', async () => [finding], { guard: breaks });
    expect(await createTestToolbox([guarded])('a')).toMatchObject({
      status: 'failed',
      summary: 'off by one',
    });

    const failing = createTool('a', async () => breaks(), { alternative: { tool: 'b', args: breaks } });
    expect(await createTestToolbox([failing, createTool('b', async () => [finding])])('a')).toMatchObject({
      status: 'failed',
    });
  });

  it('is timed out even if it ignores its signal', async () => {
    const deaf = createTool('a', () => new Promise<Finding[]>(() => undefined));

    expect(await createTestToolbox([deaf], { timeLimitMs: () => 40 })('a')).toMatchObject({
      status: 'timed-out',
      summary: 'No answer within 40 ms.',
    });
  });

  it('gets a signal that ends with its time limit', async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const polite = createTool('a', async (context) => {
      await new Promise((done) => context.signal.addEventListener('abort', done));
      resolve(true);
      return [];
    });
    await createTestToolbox([polite], { timeLimitMs: () => 30 })('a');

    expect(await promise).toBe(true);
  });

  it('lets an aborted run end at once', async () => {
    const controller = new AbortController();
    const slow = createTool('a', () => new Promise<Finding[]>(() => undefined));
    const asked = createTestToolbox([slow])('a', {}, controller.signal);
    controller.abort();

    await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
  });
});

describe('the circuit breaker', () => {
  it('opens for a provider after consecutive failures, and tries again after a pause', async () => {
    let asked = 0;
    let healthy = false;
    const shaky = createTool('a', async () => {
      asked += 1;
      if (!healthy) throw flaky();
      return [finding];
    });
    const run = createTestToolbox([shaky], { resilience: { firstDelayMs: 1, breakAfter: 6, restMs: 500 } });

    await run('a');
    const second = await run('a');
    expect(second).toMatchObject({ status: 'failed', attempts: 2 });
    expect(second.summary).toContain('paused for a while');
    expect(await run('a')).toMatchObject({ status: 'failed', attempts: 0 });
    expect(asked).toBe(6);

    healthy = true;
    await new Promise((done) => setTimeout(done, 550));
    expect(await run('a')).toMatchObject({ status: 'ok', attempts: 1 });
  });

  it('is shared by the tools of a provider, and does not affect others', async () => {
    const failing = async () => {
      throw flaky();
    };
    const run = createTestToolbox(
      [
        createTool('a', failing, { provider: 'shared' }),
        createTool('b', async () => [finding], { provider: 'shared' }),
        createTool('c', async () => [finding], { provider: 'other' }),
      ],
      { resilience: { firstDelayMs: 1, breakAfter: 4, restMs: 10_000 } },
    );
    await run('a');

    expect(await run('b')).toMatchObject({ status: 'failed', attempts: 0 });
    expect(await run('c')).toMatchObject({ status: 'ok' });
  });

  it('does not open for invalid calls', async () => {
    const strict = createTool('a', async () => {
      throw new TriageError('invalid-input', 'No such log.');
    });
    const run = createTestToolbox([strict], { resilience: { breakAfter: 2 } });
    for (let round = 0; round < 5; round += 1)
      expect(await run('a')).toMatchObject({ status: 'invalid-arguments', attempts: 1 });
  });
});

describe('the alternative tool', () => {
  const broken = (rest: Partial<ToolDefinition<typeof Parameters>> = {}) =>
    createTool(
      'a',
      async () => {
        throw flaky();
      },
      { alternative: { tool: 'b', args: (call) => ({ path: `instead of ${call.args.path}` }) }, ...rest },
    );

  it('answers if the first one could not, and is named', async () => {
    let seen: unknown;
    const second = createTool('b', async () => [finding], {
      guard: (args) => {
        seen = args;
        return null;
      },
    });
    const outcome = await createTestToolbox([broken(), second])('a', { path: 'x' });

    expect(outcome).toMatchObject({ status: 'ok', answeredBy: 'b', attempts: 5, findings: [finding] });
    expect(outcome.call.tool).toBe('a');
    expect(outcome.summary).toBe('It answered 503. Instead, b: 1 finding');
    expect(seen).toEqual({ path: 'instead of x' });
  });

  it.each(['upstream-auth', 'quota-exhausted'] as const)(
    'is not called at a provider that refused with %s, but at another',
    async (code) => {
      const refused = createTool(
        'a',
        async () => {
          throw new TriageError(code, 'No.');
        },
        { provider: 'p', alternative: { tool: 'b', args: () => ({}) } },
      );
      const same = createTool('b', async () => [finding], { provider: 'p' });
      const other = createTool('b', async () => [finding], { provider: 'q' });

      expect(await createTestToolbox([refused, same])('a')).toMatchObject({
        status: 'failed',
        summary: 'No.',
        attempts: 1,
      });
      expect(await createTestToolbox([refused, other])('a')).toMatchObject({ status: 'ok', answeredBy: 'b' });
    },
  );

  it('leaves the first failure in place if it fails too', async () => {
    const alsoBroken = createTool('b', async () => [finding], {
      findUnavailableReason: async () => 'nothing configured',
    });
    const outcome = await createTestToolbox([broken(), alsoBroken])('a');

    expect(outcome).toMatchObject({
      status: 'failed',
      summary: 'It answered 503. b could not help either: nothing configured',
    });
    expect(outcome).not.toHaveProperty('answeredBy');
  });

  it('does not replace the findings that need no call if it fails too', async () => {
    const alsoBroken = createTool('b', async () => {
      throw flaky();
    });
    const named = broken({ listFallbackFindings: () => [finding] });

    expect(await createTestToolbox([named, alsoBroken])('a')).toMatchObject({
      status: 'failed',
      findings: [finding],
    });
  });

  it('is subject to the category like any other tool', async () => {
    const elsewhere = createTool('b', async () => [finding], { serves: { TEST_FAILURE: 1 } });

    expect(await createTestToolbox([broken(), elsewhere])('a')).toMatchObject({
      status: 'failed',
      findings: [],
    });
  });

  it('is not called after a refusal, an empty answer or invalid arguments', async () => {
    const second = createTool('b', async () => [finding]);
    const empty = createTool('a', async () => [], { alternative: { tool: 'b', args: () => ({}) } });

    expect(await createTestToolbox([empty, second])('a')).toMatchObject({ status: 'empty' });
    expect(await createTestToolbox([empty, second])('a', { path: 1 })).toMatchObject({
      status: 'invalid-arguments',
    });
  });
});
