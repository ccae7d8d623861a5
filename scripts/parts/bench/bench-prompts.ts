import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { append } from '../../../src/lib/collections.ts';
import { classifyRole } from '../../../src/log/line-roles.ts';
import { cleanLine, stripEscapes } from '../../../src/log/lines/clean.ts';
import { countTokens } from '../../../src/log/reduce/tokens.ts';
import { computeCost, PRICES } from '../../../src/models/chat/prices.ts';
import { estimateTokens } from '../../../src/replay/run/check-case.ts';
import { createSubjectFrom } from '../../../test/support/judging-gates.ts';
import { askAbout, findJunk, listShownLines } from '../../../test/support/page-gates.ts';
import { judge } from './scripted-judgements.ts';
import { type RequestCost, startScriptedModel } from './scripted-model.ts';

/**
 * Measures the input of the model: the tokens of whole logs, of the excerpts taken from them, and of all prompts
 * of a balanced run, with its price; then how many of the labeled informative lines are in the prompt for the
 * answer before any tool is called, with more or fewer tokens of log. Each argument is a data set whose rows name
 * a log (`log_path`); without one, the captured failures of the tests are used. The model is scripted: it agrees
 * with the rules about the category, makes two rounds of calls, and then states that it has enough.
 */
const ROOT = resolve(import.meta.dirname, '../../..');
const FAILURES = join(ROOT, 'test/fixtures/failures');
const ROUNDS = 3;

/** The numbers of log tokens to compare. */
const BUDGETS = [2_000, 3_000, 4_000, 8_000];
const LabelledRow = z.object({
  id: z.string(),
  log_path: z.string().nullish(),
  expected_lines: z.array(z.tuple([z.int(), z.int()])).nullish(),
});
const Row = z.object({ id: z.string(), log_path: z.string().nullish() });
const Truth = z.object({ telling: z.unknown().optional(), mustCite: z.unknown().optional() });
const Result = z.object({
  id: z.string(),
  category: z.string().nullable(),
  kind: z.string().nullable(),
  tokens: z.number(),
  usage: z.object({ inputTokens: z.number(), outputTokens: z.number(), costUsd: z.number() }),
  error: z.string().nullable(),
});

/** The requests of each run, in order. */
const runs: RequestCost[][] = [];
const PRICED = ['gpt-4o', 'gpt-4.1', 'gpt-5.1', 'claude-sonnet-5'] as const;

const folder = mkdtempSync(join(tmpdir(), 'faultline-bench-prompts-'));
try {
  const named = process.argv.slice(2).map((path) => resolve(path));
  const datasets = named.length > 0 ? named : [writeCapturedDataset(folder)];
  console.log(
    '| logs | tokens of a log, median (most) | excerpts, median | prompts of a run, median (p90) | of the log | price of a run, median (most) |',
  );
  console.log('|---|---|---|---|---|---|');
  const all: Case[] = [];
  for (const dataset of datasets) {
    const cases = await selectCases(dataset);
    append(all, cases);
    print(`${basename(dataset, '.jsonl')} (${cases.length})`, cases);
  }
  printCosts();
  if (datasets.length > 1) print(`all (${all.length})`, all);
  console.log(
    '\n| labelled logs, tokens of log | page, median tokens (p90) | a telling line shown | all of them | share of telling lines | repeated or without a role |',
  );
  console.log('|---|---|---|---|---|---|');
  for (const dataset of datasets) await printVisibility(dataset);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Prints what a run costs at list prices, with and without the provider's cache of earlier runs. */
function printCosts(): void {
  const count = (of: (cost: RequestCost) => number) =>
    runs.flat().reduce((sum, cost) => sum + of(cost), 0) / Math.max(1, runs.length);
  const share = (of: (cost: RequestCost) => number) => (count(of) / count(({ prompt }) => prompt)).toFixed(2);
  console.log(`\na run, mean of ${runs.length}: ${count(() => 1).toFixed(1)} calls`);
  for (const name of new Set(runs.flat().map((cost) => cost.name))) {
    const of = (value: (cost: RequestCost) => number) =>
      count((cost) => (cost.name === name ? value(cost) : 0));
    console.log(
      `  ${name}: ${of(() => 1).toFixed(1)} calls, ${of(({ prompt }) => prompt).toFixed(0)} tokens`,
    );
  }
  console.log(`  begins like the request before it: ${share(({ shared }) => shared)} of its prompts`);
  console.log(`  cached, after other runs: ${share(({ cached }) => cached)} of its prompts`);
  for (const model of PRICED) {
    const price = PRICES[model];
    if (price === undefined) continue;
    const cost = (isCached: boolean) =>
      count(({ prompt, completion, cached }) =>
        computeCost(price, {
          inputTokens: prompt,
          outputTokens: completion,
          cachedInputTokens: isCached ? cached : 0,
        }),
      ).toFixed(4);
    console.log(`  ${model}: $${cost(false)}, with what is cached $${cost(true)}`);
  }
}

interface Case {
  readonly log: number;
  readonly excerpts: number;
  readonly prompts: number;
  readonly price: number;
}

async function selectCases(dataset: string): Promise<Case[]> {
  const rows = readLines(dataset, Row).filter((row) => row.log_path);
  const whole = join(folder, basename(dataset));
  const kept = readFileSync(dataset, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && Row.parse(JSON.parse(line)).log_path);
  // Paths are relative to the folder of the data set, so they become absolute in the copy with whole logs.
  const absolute = (path: string) => resolve(dirname(dataset), path);
  writeFileSync(whole, kept.map((line) => withAbsolutePaths(line, absolute)).join('\n'));
  const byRules = join(folder, 'rules.jsonl');
  await replay(['--dataset', whole, '--out', byRules, '--analyst', 'rules'], {});
  const categories = readLines(byRules, Result).map(
    (result) => [result.category ?? 'CODE_ERROR', result.kind ?? 'unknown'] as const,
  );
  const out = join(folder, 'results.jsonl');
  // Cases run one after the other, so the current row follows those that are already written.
  const known = () => categories[readFileSync(out, 'utf8').split('\n').length - 1];
  const model = await startScriptedModel({
    latencyMs: 0,
    rounds: ROUNDS,
    judge: (body, rounds) => judge(body, rounds, known()),
    onAnswered: (cost) => {
      if (cost.name === 'classify') runs.push([]);
      runs.at(-1)?.push(cost);
    },
  });
  const env = { OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'none', OPENAI_MODEL: 'gpt-4o-mini' };
  await replay(['--dataset', whole, '--out', out, '--analyst', 'llm', '--concurrency', '1'], env);
  await model.close();
  const results = new Map(readLines(out, Result).map((result) => [result.id, result]));
  return rows.flatMap((row) => {
    const result = results.get(row.id);
    if (result === undefined || result.error !== null || result.usage.inputTokens === 0) return [];
    const log = estimateTokens(readText(absolute(row.log_path ?? '')));
    return [{ log, excerpts: result.tokens, prompts: result.usage.inputTokens, price: result.usage.costUsd }];
  });
}

/** Prints, for each labeled log, which of its labeled lines the model sees before it writes the answer. */
async function printVisibility(dataset: string): Promise<void> {
  const rows = readLines(dataset, LabelledRow).filter((row) => (row.expected_lines ?? []).length > 0);
  for (const budgetTokens of BUDGETS) {
    const pages = await Promise.all(
      rows.map(async ({ id, log_path, expected_lines }) => {
        const text = readText(resolve(dirname(dataset), log_path ?? ''));
        const telling = expected_lines ?? [];
        const { answer } = await askAbout({
          name: id,
          text,
          telling,
          subject: createSubjectFrom(text, { budgetTokens }),
        });
        const shown = listShownLines(answer);
        const lines = text.split('\n');
        const wanted = telling
          .flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => from + i))
          .filter((line) => !isBlank(lines[line - 1] ?? ''));
        const seen = wanted.filter((line) => shown.has(line)).length / wanted.length;
        const junk = findJunk(answer).length;
        return { tokens: countTokens(answer), seen, junk, lines: shown.size };
      }),
    );
    if (pages.length === 0) continue;
    const mean = (of: (page: (typeof pages)[number]) => number) =>
      (pages.reduce((sum, page) => sum + of(page), 0) / pages.length).toFixed(3);
    const tokens = pages.map((page) => page.tokens).sort((left, right) => left - right);
    const total = (of: (page: (typeof pages)[number]) => number) =>
      pages.reduce((sum, page) => sum + of(page), 0);
    const cells = [
      `${basename(dataset, '.jsonl')} (${pages.length}), ${budgetTokens}`,
      `${tokens[Math.floor(tokens.length / 2)]} (${tokens[Math.floor(tokens.length * 0.9)]})`,
      mean(({ seen }) => Number(seen > 0)),
      mean(({ seen }) => Number(seen === 1)),
      mean(({ seen }) => seen),
      (total(({ junk }) => junk) / total(({ lines }) => lines)).toFixed(3),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

function isBlank(line: string): boolean {
  return classifyRole(cleanLine(stripEscapes(line))) === 'blank';
}

function withAbsolutePaths(line: string, absolute: (path: string) => string): string {
  const row: unknown = JSON.parse(line, (key, value) =>
    ['log_path', 'pass_log_path', 'repo_path'].includes(key) && typeof value === 'string'
      ? absolute(value)
      : value,
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
    child.once('exit', (code) =>
      code === 0 ? settle() : reject(new Error(`replay ${options.join(' ')} ended with ${code}`)),
    );
  });
}

/** Writes the captured failures as a data set. */
function writeCapturedDataset(into: string): string {
  const slugs = readdirSync(FAILURES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const rows = slugs.map(({ name }) => {
    const { telling, mustCite } = Truth.parse(
      JSON.parse(readFileSync(join(FAILURES, name, 'truth.json'), 'utf8')),
    );
    return JSON.stringify({
      id: name,
      log_path: join(FAILURES, name, 'log.txt'),
      expected_lines: telling ?? mustCite ?? [],
    });
  });
  const path = join(into, 'captured.jsonl');
  writeFileSync(path, rows.join('\n'));
  return path;
}

function print(name: string, cases: readonly Case[]): void {
  const at = (of: (promptCase: Case) => number, share: number) => {
    const sorted = cases.map(of).sort((left, right) => left - right);
    return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  };
  const count = (value: number) => Math.round(value).toLocaleString('en');
  const share =
    (100 * at((promptCase) => promptCase.prompts, 0.5)) /
    Math.max(
      1,
      at((promptCase) => promptCase.log, 0.5),
    );
  const columns = [
    name,
    `${count(at((promptCase) => promptCase.log, 0.5))} (${count(at((promptCase) => promptCase.log, 1))})`,
    count(at((promptCase) => promptCase.excerpts, 0.5)),
    `${count(at((promptCase) => promptCase.prompts, 0.5))} (${count(at((promptCase) => promptCase.prompts, 0.9))})`,
    `${share.toFixed(share < 10 ? 1 : 0)} %`,
    `$${at((promptCase) => promptCase.price, 0.5).toFixed(4)} ($${at((promptCase) => promptCase.price, 1).toFixed(4)})`,
  ];
  console.log(`| ${columns.join(' | ')} |`);
}

function readLines<Schema extends z.ZodType>(path: string, schema: Schema): z.output<Schema>[] {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.map((line) => schema.parse(JSON.parse(line)));
}

function readText(path: string): string {
  const bytes = readFileSync(path);
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}
