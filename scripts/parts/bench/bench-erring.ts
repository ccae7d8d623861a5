import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { Category } from '../../../src/domain/category.ts';
import { readCapturedFailures } from '../../../test/support/reading-gates.ts';
import { createErringJudge, type Truth } from './erring-judgements.ts';
import { startScriptedModel } from './scripted-model.ts';

/**
 * Measures what is published by models that err in 30, 60 and 90 % of their judgments, and by the rules
 * alone, on the captured failures whose category is labeled. An answer is wrong if its category is not
 * accepted, or if none of its quotations is a labeled line. Exits with 1 if a model publishes more wrong
 * answers than the rules.
 */
const ROOT = resolve(import.meta.dirname, '../../..');
const SHARES = [0, 0.3, 0.6, 0.9];
const SEED = 1;

const Result = z.object({
  id: z.string(),
  category: Category.nullable(),
  action: z.string().nullable(),
  claims: z.array(z.object({ quotes: z.array(z.object({ line: z.number() })) })),
  error: z.string().nullable(),
});

const cases = readCapturedFailures()
  .filter(({ accepted, telling }) => accepted.length > 0 && telling.length > 0)
  .map((failure) => ({ ...failure, truth: toTruth(failure) }));
const folder = mkdtempSync(join(tmpdir(), 'faultline-bench-erring-'));
try {
  const dataset = writeDataset();
  console.log('| analyst | published | wrong category | wrong cause | wrong |\n|---|---|---|---|---|');
  const rules = await measure('the rules alone', dataset, ['--analyst', 'rules'], {});
  for (const share of SHARES) {
    const wrong = await measureModel(share, dataset);
    if (wrong > rules) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measureModel(share: number, dataset: string): Promise<number> {
  const out = join(folder, 'results.jsonl');
  // Cases run one after the other, so the current case follows those that are already written.
  const ask = (): Truth => cases[readFileSync(out, 'utf8').split('\n').length - 1]?.truth ?? NOTHING;
  const judge = createErringJudge(share, SEED, ask);
  const model = await startScriptedModel({ latencyMs: 0, rounds: 1, judge });
  const env = { OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'none', OPENAI_MODEL: 'gpt-4o' };
  const name = `a model that errs in ${Math.round(100 * share)} % of its judgements`;
  const wrong = await measure(name, dataset, ['--analyst', 'llm'], env);
  await model.close();
  return wrong;
}

const NOTHING: Truth = { id: '', category: 'CODE_ERROR', telling: new Set() };

async function measure(
  name: string,
  dataset: string,
  options: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  const out = join(folder, 'results.jsonl');
  const args = ['--dataset', dataset, '--out', out, '--concurrency', '1', ...options];
  const child = spawn(process.execPath, ['src/cli/main.ts', 'replay', ...args], {
    cwd: ROOT,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await new Promise((settle) => child.once('exit', settle));
  const results = readFileSync(out, 'utf8').trim().split('\n');
  rmSync(out);
  const published = results.flatMap((line, index) => {
    const result = Result.parse(JSON.parse(line));
    const known = cases[index];
    if (known === undefined || result.action !== 'auto_notify') return [];
    const quoted = result.claims.flatMap(({ quotes }) => quotes);
    return [
      {
        isCategoryWrong: !known.accepted.some((category) => category === result.category),
        isCauseWrong: !quoted.some(({ line }) => known.truth.telling.has(line)),
      },
    ];
  });
  const count = (isCounted: (one: (typeof published)[number]) => boolean) =>
    published.filter(isCounted).length;
  const wrong = count((one) => one.isCategoryWrong || one.isCauseWrong);
  console.log(
    `| ${name} | ${published.length} of ${results.length} | ${count((one) => one.isCategoryWrong)} | ` +
      `${count((one) => one.isCauseWrong)} | ${wrong} |`,
  );
  return wrong;
}

function toTruth({ name, accepted, telling }: ReturnType<typeof readCapturedFailures>[number]): Truth {
  const lines = telling.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => from + i));
  return { id: name, category: accepted[0] ?? 'CODE_ERROR', telling: new Set(lines) };
}

function writeDataset(): string {
  const rows = cases.map(({ name, text }, index) => {
    const path = join(folder, `${index}.log`);
    writeFileSync(path, text);
    return JSON.stringify({ id: `${index} ${name}`, log_path: path });
  });
  const path = join(folder, 'cases.jsonl');
  writeFileSync(path, rows.join('\n'));
  return path;
}
