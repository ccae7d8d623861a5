import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import type { Masker } from '../../src/log/mask/mask.ts';
import { type Planted, SECRETS, TOKENS } from '../log/mask/secrets.ts';

/** How many lines of one kind had their secret hidden, and those that had not. */
export interface Recall {
  readonly kind: string;
  readonly lines: number;
  readonly missed: readonly string[];
}

interface Samples {
  /** Of gitleaks. */
  readonly version: string;
  readonly samples: readonly {
    readonly id: string;
    readonly secret: readonly { readonly text: string; readonly secrets: readonly string[] }[];
    readonly harmless: readonly string[];
  }[];
}

/** What gitleaks generates to test its own rules: packed, so that no scanner takes it for a leak. `scripts/write/renew-secret-rules.ts` writes it. */
export function gitleaksSamples(): Samples {
  return JSON.parse(
    brotliDecompressSync(
      readFileSync(join(import.meta.dirname, '../log/mask/gitleaks-samples.br')),
    ).toString(),
  ) as Samples;
}

/** Over gitleaks' generated secrets, by its rules: a secret counts as hidden where nothing of the text shows it whole. */
export async function generatedRecall(masker: Masker): Promise<Recall[]> {
  const recalls: Recall[] = [];
  for (const { id, secret } of gitleaksSamples().samples) {
    const missed: string[] = [];
    for (const { text, secrets } of secret) if (await shows(masker, text, secrets)) missed.push(text);
    recalls.push({ kind: id, lines: secret.length, missed });
  }
  return recalls.filter(({ lines }) => lines > 0);
}

/** A token in the places where logs show one, under names that do not give it away. */
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

/** Over lines as logs show secrets, drawn with a seed: each kind in its own place, and tokens in twelve places as well. */
export async function realisticRecall(masker: Masker, { seed = 17, each = 12 } = {}): Promise<Recall[]> {
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

/** The share of lines, and of kinds of which every line was hidden. */
export function shareOf(recalls: readonly Recall[]): { readonly lines: number; readonly kinds: number } {
  const lines = recalls.reduce((sum, recall) => sum + recall.lines, 0);
  const missed = recalls.reduce((sum, recall) => sum + recall.missed.length, 0);
  return {
    lines: 1 - missed / lines,
    kinds: recalls.filter((recall) => recall.missed.length === 0).length / recalls.length,
  };
}

/** Lines of ordinary logs in which something was masked, as they were and as they became, and the size of all. */
export async function masksIn(
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
