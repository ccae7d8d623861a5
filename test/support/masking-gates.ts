import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import type { Masker } from '../../src/log/mask/mask.ts';
import { type Planted, SECRETS, TOKENS } from '../log/mask/secrets.ts';

/** The numbers of lines of one kind whose secret was hidden, and was not hidden. */
export interface Recall {
  readonly kind: string;
  readonly lines: number;
  readonly missed: readonly string[];
}

interface Samples {
  /** The version of gitleaks. */
  readonly version: string;
  readonly samples: readonly {
    readonly id: string;
    readonly secret: readonly { readonly text: string; readonly secrets: readonly string[] }[];
    readonly harmless: readonly string[];
  }[];
}

/**
 * Returns the samples that gitleaks generates to test its own rules. They are packed, so that no scanner
 * reports them as a leak. `scripts/write/renew-secret-rules.ts` writes them.
 */
export function readGitleaksSamples(): Samples {
  return JSON.parse(
    brotliDecompressSync(
      readFileSync(join(import.meta.dirname, '../log/mask/gitleaks-samples.br')),
    ).toString(),
  ) as Samples;
}

/**
 * Measures the recall on gitleaks' generated secrets, by its rules. A secret counts as hidden if the text
 * shows it nowhere as a whole.
 */
export async function measureGeneratedRecall(masker: Masker): Promise<Recall[]> {
  const recalls: Recall[] = [];
  for (const { id, secret } of readGitleaksSamples().samples) {
    const missed: string[] = [];
    for (const { text, secrets } of secret) if (await shows(masker, text, secrets)) missed.push(text);
    recalls.push({ kind: id, lines: secret.length, missed });
  }
  return recalls.filter(({ lines }) => lines > 0);
}

/** A token in the positions in which logs show one, under names that do not reveal it. */
const PLACES: readonly ((token: string) => string)[] = [
  (token) => token,
  (token) => `VALUE=${token}`,
  (token) => `+ export SERVICE='${token}'`,
  (token) => `  service: ${token}`,
  (token) => `  "value": "${token}",`,
  (token) => `{"level":"debug","msg":"sent ${token}"}`,
  (token) => `curl -sSf -H "X-Service: ${token}" https://api.example.com/v1`,
  (token) => `GET https://api.example.com/v1?x=${token}&page=2 401`,
  (token) => `docker run -e VALUE=${token} registry.example.com/app:1.2`,
  (token) => `2026-01-05T10:00:00.0000000Z ##[debug]Input: ${token}`,
  (token) => `\u001b[36;1mdeploy --with ${token}\u001b[0m`,
  (token) => `ValueError: refused (${token}), try again`,
];

/**
 * Measures the recall on lines in which logs show secrets, drawn with a seed: each kind in its own position,
 * and tokens in twelve positions as well.
 */
export async function measureRealisticRecall(
  masker: Masker,
  { seed = 17, each = 12 } = {},
): Promise<Recall[]> {
  const recalls: Recall[] = [];
  for (const [kind, planted] of Object.entries(SECRETS)) {
    const lines: Planted[] = fc.sample(planted, { seed, numRuns: each });
    const token = TOKENS[kind];
    const tokens = token === undefined ? [] : fc.sample(token, { seed, numRuns: PLACES.length });
    const texts = [
      ...lines.map(([before, secret, after]) => ({ text: `${before}${secret}${after}`, secret })),
      ...tokens.map((secret, at) => ({ text: PLACES[at]?.(secret) ?? secret, secret })),
    ];
    const missed: string[] = [];
    for (const { text, secret } of texts) if (await shows(masker, text, [secret])) missed.push(text);
    recalls.push({ kind, lines: texts.length, missed });
  }
  return recalls;
}

/** Returns the share of lines that were hidden, and the share of kinds of which every line was hidden. */
export function computeShare(recalls: readonly Recall[]): { readonly lines: number; readonly kinds: number } {
  const lines = recalls.reduce((sum, recall) => sum + recall.lines, 0);
  const missed = recalls.reduce((sum, recall) => sum + recall.missed.length, 0);
  return {
    lines: 1 - missed / lines,
    kinds: recalls.filter((recall) => recall.missed.length === 0).length / recalls.length,
  };
}

/**
 * Returns the lines of ordinary logs in which something was masked, before and after, and the size of all
 * logs.
 */
export async function countMasks(
  masker: Masker,
  logs: Iterable<string>,
): Promise<{ places: number; megabytes: number; lines: string[] }> {
  const found = { places: 0, megabytes: 0, lines: [] as string[] };
  for (const log of logs) {
    const { text, count } = await masker.mask(log);
    found.places += count;
    found.megabytes += Buffer.byteLength(log) / 1e6;
    if (count === 0) continue;
    const before = log.split('\n');
    for (const [at, line] of text.split('\n').entries()) if (line !== before[at]) found.lines.push(line);
  }
  return found;
}

async function shows(masker: Masker, text: string, secrets: readonly string[]): Promise<boolean> {
  const masked = (await masker.mask(text)).text;
  return secrets.some((secret) => masked.includes(secret));
}
