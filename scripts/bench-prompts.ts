import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { append } from '../src/domain/lists.ts';
import { estimateTokens } from '../src/replay/run/estimate-tokens.ts';
import { judge } from './bench-parts/scripted-judgements.ts';
import { startScriptedModel } from './bench-parts/scripted-model.ts';

/**
 * What the model sees: the tokens of whole logs, of the excerpts taken from them, and of all prompts of a balanced run, with its price. Each
 * argument is a data set whose rows name a log (`log_path`); without one, the captured failures of the tests. The model is scripted: it agrees
 * with the rules about the category, asks two rounds of questions, and then says that enough is known.
 */
const ROOT = resolve(import.meta.dirname, '..');
const FAILURES = join(ROOT, 'test/fixtures/failures');
const ROUNDS = 3;

const Row = z.object({ id: z.string(), log_path: z.string().nullish() });
const Result = z.object({
  id: z.string(),
  category: z.string().nullable(),
  kind: z.string().nullable(),
  tokens: z.number(),
  usage: z.object({ inputTokens: z.number(), outputTokens: z.number(), costUsd: z.number() }),
  error: z.string().nullable(),
});

const folder = mkdtempSync(join(tmpdir(), 'faultline-bench-prompts-'));
try {
  const named = process.argv.slice(2).map((path) => resolve(path));
  const datasets = named.length > 0 ? named : [capturedDataset(folder)];
  console.log(
    '| logs | tokens of a log, median (most) | excerpts, median | prompts of a run, median (p90) | of the log | price of a run, median (most) |',
  );
  console.log('|---|---|---|---|---|---|');
  const all: Case[] = [];
  for (const dataset of datasets) {
    const cases = await casesOf(dataset);
    append(all, cases);
    print(`${basename(dataset, '.jsonl')} (${cases.length})`, cases);
  }
  if (datasets.length > 1) print(`all (${all.length})`, all);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

interface Case {
  readonly log: number;
  readonly excerpts: number;
  readonly prompts: number;
  readonly price: number;
}

async function casesOf(dataset: string): Promise<Case[]> {
  const rows = readLines(dataset, Row).filter((row) => row.log_path);
  const whole = join(folder, basename(dataset));
  const kept = readFileSync(dataset, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && Row.parse(JSON.parse(line)).log_path);
  // Paths stay relative to the data set's own folder, so they are made absolute in the copy that holds whole logs only.
  const absolute = (path: string) => resolve(dirname(dataset), path);
  writeFileSync(whole, kept.map((line) => withAbsolutePaths(line, absolute)).join('\n'));
  const byRules = join(folder, 'rules.jsonl');
  await replay(['--dataset', whole, '--out', byRules, '--analyst', 'rules'], {});
  const categories = readLines(byRules, Result).map((result) => [result.category ?? 'CODE_ERROR', result.kind ?? 'unknown'] as const);
  const out = join(folder, 'results.jsonl');
  // One case after the other, so that the row at hand is known by those that are written.
  const known = () => categories[readFileSync(out, 'utf8').split('\n').length - 1];
  const model = await startScriptedModel({ latencyMs: 0, rounds: ROUNDS, judge: (body, rounds) => judge(body, rounds, known()) });
  const env = { OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'none', FAULTLINE_MODEL: 'gpt-4o-mini' };
  await replay(['--dataset', whole, '--out', out, '--analyst', 'llm', '--concurrency', '1'], env);
  await model.close();
  const results = new Map(readLines(out, Result).map((result) => [result.id, result]));
  return rows.flatMap((row) => {
    const result = results.get(row.id);
    if (result === undefined || result.error !== null || result.usage.inputTokens === 0) return [];
    const log = estimateTokens(textOf(absolute(row.log_path ?? '')));
    return [{ log, excerpts: result.tokens, prompts: result.usage.inputTokens, price: result.usage.costUsd }];
  });
}

function withAbsolutePaths(line: string, absolute: (path: string) => string): string {
  const row: unknown = JSON.parse(line, (key, value) =>
    (key === 'log_path' || key === 'pass_log_path') && typeof value === 'string' ? absolute(value) : value,
  );
  return JSON.stringify(row);
}

function replay(options: readonly string[], environment: Readonly<Record<string, string>>): Promise<void> {
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, ['src/cli/main.ts', 'replay', ...options], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Promise((settle, reject) => {
    child.once('exit', (code) => (code === 0 ? settle() : reject(new Error(`replay ${options.join(' ')} ended with ${code}`))));
  });
}

/** The captured failures in the shape of a data set. */
function capturedDataset(into: string): string {
  const slugs = readdirSync(FAILURES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const rows = slugs.map(({ name }) => JSON.stringify({ id: name, log_path: join(FAILURES, name, 'log.txt') }));
  const path = join(into, 'captured.jsonl');
  writeFileSync(path, rows.join('\n'));
  return path;
}

function print(name: string, cases: readonly Case[]): void {
  const at = (of: (one: Case) => number, share: number) => {
    const sorted = cases.map(of).sort((left, right) => left - right);
    return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  };
  const count = (value: number) => Math.round(value).toLocaleString('en');
  const share =
    (100 * at((one) => one.prompts, 0.5)) /
    Math.max(
      1,
      at((one) => one.log, 0.5),
    );
  const columns = [
    name,
    `${count(at((one) => one.log, 0.5))} (${count(at((one) => one.log, 1))})`,
    count(at((one) => one.excerpts, 0.5)),
    `${count(at((one) => one.prompts, 0.5))} (${count(at((one) => one.prompts, 0.9))})`,
    `${share.toFixed(share < 10 ? 1 : 0)} %`,
    `$${at((one) => one.price, 0.5).toFixed(4)} ($${at((one) => one.price, 1).toFixed(4)})`,
  ];
  console.log(`| ${columns.join(' | ')} |`);
}

function readLines<Schema extends z.ZodType>(path: string, schema: Schema): z.output<Schema>[] {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.map((line) => schema.parse(JSON.parse(line)));
}

function textOf(path: string): string {
  const bytes = readFileSync(path);
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}
