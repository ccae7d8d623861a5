import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createReaderMatcher, READER_GROUPS } from '../../../src/log/extract/run.ts';
import { toLogBytes } from '../../../src/log/lines/bytes.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { createGrowingScan, scanLog } from '../../../src/log/scan/scan-log.ts';

const TOKEN = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const FILLER = `${'plain output of a build, nothing to see here '.repeat(3)}ü\n`;

describe('masking piece by piece', () => {
  it('writes nothing if there is nothing to mask', async () => {
    expect(await maskInPieces(FILLER.repeat(20_000))).toEqual({ text: '', count: 0 });
  });

  it('gives another reader the same result as a scan of its own', async () => {
    const log = toLogBytes(
      `${FILLER}\u001b[31merr\u001b[0mor: failed\nnpm ERR! code 1\n${'x'.repeat(2_000_000)} fatal: gone\n`.repeat(
        3,
      ),
    );
    const { scan, add } = createGrowingScan(log, READER_GROUPS.length);
    expect(await createMasker().maskPieces(log, () => undefined, { groups: READER_GROUPS, add })).toBe(0);
    const own = scanLog(log, createReaderMatcher());
    expect(scan.hits).toEqual(own.hits);
    expect(scan.index.toState()).toEqual(own.index.toState());
  });

  it.each([
    ['the address of a link', `\u001b]8;;https://user:${TOKEN}@host.example.org/\u0007link\u001b]8;;\u0007`],
    ['colors', `\u001b[1m${TOKEN}\u001b[0m`],
    ['a line behind a very long one', `${'y'.repeat(1_500_000)}\n${TOKEN}`],
    ['a very long line', `${'y '.repeat(1_500_000)}${TOKEN} ${'z '.repeat(300_000)}`],
  ])('masks a secret in %s', async (_where, secret) => {
    const { text, count } = await maskInPieces(`${FILLER}${secret}\n${FILLER}`);
    expect(text).not.toContain(TOKEN);
    expect(count).toBeGreaterThan(0);
  });

  it('gives the same as masking the whole text, wherever the pieces are cut', async () => {
    const body = Array.from(
      { length: 14 },
      (_, i) => `MIIEpAIBAAKCAQEA${i}x7Vq3Zk9LmNoPqRsTuVwXyZaBcDeFgHiJkLm0Q${i}2aB`,
    ).join('\n');
    const key = `-----BEGIN RSA PRIVATE KEY-----\n${body}\n-----END RSA PRIVATE KEY-----\n`;
    for (const shift of [0, 100, 700, 1_048_576 - 300]) {
      const log = `${'x'.repeat(shift)}\n${`${FILLER.repeat(900)}password=${TOKEN}\n${key}`.repeat(18)}the end ${TOKEN}`;
      const whole = await createMasker().mask(log);
      const pieces = await maskInPieces(log);
      expect(pieces.text).toBe(whole.text);
      expect(pieces.text).not.toContain(TOKEN);
      expect(pieces.text).not.toContain('MIIEpAIBAAKCAQEA');
    }
  });

  it('masks the longest key that is generated, each line with a timestamp, wherever a piece ends', async () => {
    const line = (i: number) => {
      const material = createHash('sha512').update(`line ${i}`).digest('base64').slice(0, 60);
      return `2026-01-05T10:00:00.${String(1_000_000 + i)}Z MII${String(i).padStart(3, '0')}${material}`;
    };
    const body = Array.from({ length: 195 }, (_, i) => line(i)).join('\n');
    const time = '2026-01-05T10:00:00.0000000Z';
    const key = `${time} -----BEGIN RSA PRIVATE KEY-----\n${body}\n${time} -----END RSA PRIVATE KEY-----\n`;
    for (let shift = 70_000; shift < 100_000; shift += 3_000) {
      const { text } = await maskInPieces(
        `${'x'
          .repeat(99)
          .concat('\n')
          .repeat(shift / 100)}${key}`,
      );
      expect(text).not.toMatch(/MII\d{3}/);
    }
  });

  it('masks in the first piece what only the last one reveals as a secret', async () => {
    const value = 'zX81kQpW93mNvB27';
    const { text } = await maskInPieces(`called with ${value}\n${FILLER.repeat(20_000)}API_TOKEN=${value}\n`);
    expect(text).not.toContain(value);
  });

  it('masks a line longer than a piece', async () => {
    const { text, count } = await maskInPieces(
      `${'word '.repeat(300_000)}token=${TOKEN} ${'word '.repeat(300_000)}`,
    );
    expect(text).not.toContain(TOKEN);
    expect(count).toBe(1);
  });
});

async function maskInPieces(log: string): Promise<{ text: string; count: number }> {
  const pieces: Buffer[] = [];
  const count = await createMasker().maskPieces(toLogBytes(log), (piece) => pieces.push(Buffer.from(piece)));
  return { text: Buffer.concat(pieces).toString(), count };
}
