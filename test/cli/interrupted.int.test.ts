import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startLoopback } from '../support/loopback-server.ts';
import { type Ended, runFaultlineProcess } from './faultline.ts';

const CART = resolve(import.meta.dirname, '../fixtures/failures/cart-discount-rounding/log.txt');
const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-interrupted-'));
const Refusal = z.object({
  ok: z.literal(false),
  error: z.object({ code: z.string(), message: z.string() }),
});
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

describe('an interrupted command', () => {
  it('ends silently if the reader of its output closes the pipe', async () => {
    const ended = await runFaultlineProcess(['read', CART, '--json'], { closedStdout: true });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('prints what is known after Ctrl-C, and exits with 130', async () => {
    const { ended, close } = await runUntilInterrupted();
    await close();
    expect(ended.code).toBe(130);
    const { error } = Refusal.parse(JSON.parse(ended.stdout));
    expect(error).toMatchObject({ code: 'cancelled', message: expect.stringMatching(/^Interrupted\. /) });
    expect(ended.stderr).not.toMatch(/^\s+at /m);
  });

  it.each(['read', 'triage'])('ends after Ctrl-C during %s of a large log', async (command) => {
    const log = join(FOLDER, 'large.log');
    writeFileSync(log, Buffer.alloc(LARGE, 'error: failed\n'));
    let killedAt = Number.POSITIVE_INFINITY;
    const onStart = ({ kill }: { kill(signal: NodeJS.Signals): void }) => {
      setTimeout(() => {
        killedAt = performance.now();
        kill('SIGINT');
      }, BUSY_AFTER_MS);
    };
    const { code, signal } = await runFaultlineProcess([command, log], { onStart });
    // Before its own handler is in place, the signal itself ends the process.
    expect(code === 130 || signal === 'SIGINT').toBe(true);
    expect(performance.now() - killedAt).toBeLessThan(GENEROUS_MS);
  });
});

/** Takes some seconds to mask and to read, of which the first have passed by then. */
const LARGE = 300_000_000;
const BUSY_AFTER_MS = 2_000;
/** It takes less than a second on a machine that does nothing else. */
const GENEROUS_MS = 8_000;

/** A triage that waits for a model that never answers; Ctrl-C comes when the model is asked. */
async function runUntilInterrupted(): Promise<{ ended: Ended; close: () => Promise<void> }> {
  const asked = Promise.withResolvers<void>();
  const server = await startLoopback(() => asked.resolve());
  const env = { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: 'none' };
  let kill = (_signal: NodeJS.Signals) => {};
  const running = runFaultlineProcess(['triage', CART, '--analyst', 'llm', '--json'], {
    env,
    onStart: (process) => (kill = process.kill),
  });
  await asked.promise;
  kill('SIGINT');
  return { ended: await running, close: server.close };
}
