import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { type Analysis, GivenAnalysis } from '../../domain/analysis.ts';
import { Category } from '../../domain/category.ts';
import { nameCategory } from '../../domain/category-words.ts';
import { findMax } from '../../lib/collections.ts';
import { cutAtWord, formatConfidence } from '../../lib/text.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import { createOutputStyle, print, say } from '../terminal.ts';
import {
  type DemoBuild,
  type DemoClock,
  type DemoCode,
  HISTORY,
  listOwnBuilds,
  SHOWN,
  sendHistory,
} from './demo-week.ts';

/** The captured failures of every category. Their labels are known because they were provoked. */
const FAILURES = resolve(import.meta.dirname, '../../../test/fixtures/failures');

const WAIT_MS = 60_000;

const Accepted = z.object({ buildId: z.string() });
const Analyses = z.object({
  triage: z.object({ state: z.string() }).nullable(),
  analyses: z.array(GivenAnalysis),
});
const Truth = z.object({ title: z.string(), category: Category });

export interface DemoService {
  readonly address: string;
  readonly token: string;
  /** The only token that is printed. */
  readonly shownToken: string;
  readonly app: App;
  readonly clock: DemoClock;
  readonly code: DemoCode;
}

/**
 * Sends a week of builds and captured failures as an external sender would, waits for the answers, and prints
 * them next to the correct ones.
 */
export async function runDemo({ address, token, shownToken, app, clock, code }: DemoService): Promise<void> {
  say(`\nSending sample data: a week of builds of ${HISTORY}, and ${SHOWN.length} captured failures …`);
  const answered = (buildId: string) => waitForAnswer(address, token, buildId);
  const history = await sendHistory(app, clock, code, {
    send: (build) => upload(address, token, build),
    answered,
  });
  const sent: { slug: string; buildId: string }[] = [];
  for (const slug of SHOWN) {
    try {
      for (const { at, ...build } of await listOwnBuilds(app, code, slug)) {
        clock.set(at);
        const buildId = await upload(address, token, build);
        if (build.status === 'failed') await answered(buildId);
        if (build.slug !== undefined && build.pullRequest === undefined) sent.push({ slug, buildId });
      }
    } finally {
      clock.set(null);
    }
  }
  let waiting = 0;
  const rows: string[][] = [['failure', 'category', 'truth', 'sure', 'seconds', 'answer']];
  for (const { slug, buildId } of sent) {
    const analysis = await answered(buildId);
    if (analysis.verdict.action !== 'auto_notify') waiting += 1;
    const truth = Truth.parse(JSON.parse(await readFile(join(FAILURES, slug, 'truth.json'), 'utf8')));
    rows.push([
      slug,
      nameCategory(analysis.category),
      analysis.category === truth.category ? 'same' : nameCategory(truth.category),
      `${formatConfidence(analysis.verdict.confidence)}${analysis.verdict.action === 'auto_notify' ? '' : ' ?'}`,
      (analysis.milliseconds / 1000).toFixed(2),
      toVisibleLine(analysis.answer.title),
    ]);
  }
  await print(
    `\n${formatTable(rows, createOutputStyle({}).width)}${waiting > 0 ? `\n?: waits for review, because it is not sure enough or too few answers of its kind are known to be right; ${waiting} of ${rows.length - 1}` : ''}\n` +
      `\nView:  ${address}/builds   review:  ${address}/review\nRead one:  curl -s -H "authorization: ` +
      `Bearer ${shownToken}" ${address}/api/builds/${sent[0]?.buildId}/analyses`,
  );
  const builds = new Map([...history, ...sent.map(({ slug, buildId }) => [slug, buildId] as const)]);
  await (await import('../../replay/commands/demo-runs.ts')).keepDemoRuns(app.config, FAILURES, builds);
  say(`Is a new model better? Two runs to compare: ${address}/insights/models`);
}

async function upload(
  address: string,
  token: string,
  { slug, report: given, ...build }: DemoBuild,
): Promise<string> {
  const report = given ?? (slug === undefined ? undefined : await readReport(slug));
  const form = new FormData();
  form.set('metadata', JSON.stringify({ ...build, pipeline: 'ci' }));
  if (slug !== undefined)
    form.set('log', new Blob([await readFile(join(FAILURES, slug, 'log.txt'))]), 'build.log');
  if (report !== undefined) form.set('report', new Blob([report]), 'junit.xml');
  const headers = { authorization: `Bearer ${token}`, 'idempotency-key': randomUUID() };
  const limits = { redirect: 'error' as const, signal: AbortSignal.timeout(WAIT_MS) };
  return readAcceptedBuild(
    await fetch(`${address}/api/builds`, { method: 'POST', headers, body: form, ...limits }),
  );
}

/** Reads the test report of a captured failure. */
async function readReport(slug: string): Promise<string | undefined> {
  const file = join(FAILURES, slug, 'report.xml');
  return existsSync(file) ? await readFile(file, 'utf8') : undefined;
}

async function readAcceptedBuild(response: Response): Promise<string> {
  const text = await response.text();
  if (response.status !== 202)
    throw new Error(`the service answered ${response.status}: ${text.slice(0, 300)}`);
  return Accepted.parse(JSON.parse(text)).buildId;
}

async function waitForAnswer(address: string, token: string, buildId: string): Promise<Analysis> {
  const headers = { authorization: `Bearer ${token}` };
  const until = Date.now() + WAIT_MS;
  while (Date.now() < until) {
    const response = await fetch(`${address}/api/builds/${buildId}/analyses`, {
      headers,
      redirect: 'error',
      signal: AbortSignal.timeout(WAIT_MS),
    });
    const { analyses, triage } = Analyses.parse(await response.json());
    const [first] = analyses;
    if (first !== undefined && triage?.state === 'done') return first;
    if (triage?.state === 'failed') throw new Error(`the triage of build ${buildId} failed`);
    await sleep(150);
  }
  throw new Error(`build ${buildId} was not answered within ${WAIT_MS / 1000} s`);
}

/**
 * Formats rows as a table. The answer is the last column, so that a narrow terminal cuts it and each row
 * stays on one line.
 */
function formatTable(rows: readonly string[][], width: number): string {
  const widths = (rows[0] ?? []).map((_, column) => findMax(rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => cutAtWord(line, width))
    .join('\n');
}
