import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { runFaultline } from './faultline.ts';

const FAILURES = resolve(import.meta.dirname, '../fixtures/failures');
const readText = (name: string) => readFileSync(join(FAILURES, name, 'log.txt'), 'utf8');
const CART = readText('cart-discount-rounding');
const REGISTRY = readText('registry-unavailable');
const GREEN = 'Tests: 12 passed, 12 total\nDone in 1.2 s.\n';

/** A directory with these files. */
function createFolder(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-each-'));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

const Told = z.object({
  ok: z.boolean(),
  schema: z.literal(2),
  file: z.string(),
  failureFound: z.boolean().optional(),
  analyses: z.array(z.object({ category: z.string(), tests: z.array(z.string()) })).optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});
const readJsonLines = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => Told.parse(JSON.parse(line)));

describe('triage --each', () => {
  it('answers each file of a directory separately, with one JSON object per file', async () => {
    const folder = createFolder({
      'a/cart.log': CART,
      'b/registry.log': REGISTRY,
      'c/green.log': GREEN,
      'core.out': Buffer.from([0x7f, 0x45, 0x4c, 0x46, 1, 2]),
    });
    const ended = await runFaultline(['triage', folder, '--each', '--json']);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const told = readJsonLines(ended.stdout);
    expect(told.map(({ file }) => file.slice(folder.length + 1))).toEqual([
      'a/cart.log',
      'b/registry.log',
      'c/green.log',
      'core.out',
    ]);
    expect(told).toMatchObject([
      { ok: true, failureFound: true, analyses: [{ category: 'TEST_FAILURE' }] },
      { ok: true, failureFound: true, analyses: [{ category: 'INFRA_ERROR' }] },
      { ok: true, failureFound: false, analyses: [] },
      {
        ok: false,
        error: { code: 'unsupported-type', message: expect.stringContaining('is an ELF program') },
      },
    ]);
  });

  it('prints a section for each file in a pipe', async () => {
    const folder = createFolder({ 'cart.log': CART, 'green.log': GREEN });
    const { stdout, code } = await runFaultline([
      'triage',
      join(folder, 'cart.log'),
      join(folder, 'green.log'),
      '--each',
      '--quiet',
    ]);
    expect(code).toBe(0);
    const [cart = '', green = ''] = stdout.split(/\n\n(?=File\t)/);
    expect(cart).toMatch(/^File\t.*cart\.log\nAnswer\t/);
    expect(green).toMatch(/^File\t.*green\.log\nResult\tNo failure was found/);
  });

  it('reports missing files and files that are not logs in place, and answers the others', async () => {
    const folder = createFolder({ 'logs/package.json': '{"name":"shop"}', 'logs/cart.log': CART });
    const { stdout } = await runFaultline([
      'triage',
      join(folder, 'none.log'),
      join(folder, 'logs'),
      '--each',
      '--json',
    ]);
    expect(readJsonLines(stdout)).toMatchObject([
      { ok: false, error: { code: 'not-found', message: expect.stringContaining('there is no such file') } },
      { ok: true, analyses: [{ category: 'TEST_FAILURE' }] },
      {
        ok: false,
        error: {
          code: 'unsupported-type',
          message: expect.stringContaining('is neither a log nor a test report'),
        },
      },
    ]);
  });

  it('exits with 5 only if nothing failed in any file, and with 3 if no file could be read', async () => {
    const code = async (files: Readonly<Record<string, string>>, ...more: string[]) =>
      (await runFaultline(['triage', createFolder(files), '--each', '--quiet', ...more])).code;
    expect(await code({ 'a.log': GREEN, 'b.log': GREEN })).toBe(5);
    expect(await code({ 'a.log': GREEN, 'b.log': CART })).toBe(0);
    expect(await code({ 'a.log': ' \n', 'b.log': '' })).toBe(3);
    expect(await code({ 'a.log': REGISTRY, 'b.log': CART }, '--exit-code')).not.toBe(11);
  });

  it.each([
    ['standard input', ['triage', '-', '--each'], /--each reads files/],
    ['--github', ['triage', 'x.log', '--each', '--github'], /cannot be used with/],
    ['--junit', ['triage', 'x.log', '--each', '--junit', 'r.xml'], /cannot be used with/],
  ])('refuses %s', async (_what, args, sentence) => {
    expect(await runFaultline(args)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(sentence),
    });
  });
});

describe('without --each', () => {
  it('refuses a directory of unrelated logs, with a hint', async () => {
    const folder = createFolder({
      'checkout.log': readText('checkout-type-error'),
      'invoice.log': readText('invoice-unused-import'),
    });
    const ended = await runFaultline(['triage', folder, '--json']);
    expect(ended.code).toBe(3);
    expect(JSON.parse(ended.stdout)).toMatchObject({ ok: false, error: { code: 'invalid-input' } });
    expect(ended.stderr).toMatch(
      /These logs are of different builds: the project of checkout\.log is checkout, of invoice\.log invoices\. Use faultline triage --each/,
    );
    expect(
      await runFaultline(['triage', join(folder, 'checkout.log'), join(folder, 'invoice.log')]),
    ).toMatchObject({ code: 3, stdout: '' });
    expect(await runFaultline(['ask', folder, 'why?'])).toMatchObject({ code: 3, stdout: '' });
  });
});
