import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildHttp } from '../../src/api/server.ts';
import { createApp } from '../../src/app.ts';
import { embedded } from '../../src/config/load.ts';
import { parseConfig } from '../../src/config/schema.ts';
import { Analysis } from '../../src/domain/analysis.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { copyTestDatabase } from '../support/pglite.ts';
import { RETRIEVAL_CASES, type RetrievalCase } from '../support/retrieval/cases.ts';
import { type Entry, makeDocuments, type RunbookFormat, toEntry } from '../support/retrieval/documents.ts';

/*
 * What a team's documents and people's decisions change in an answer, through the whole embedded service
 * without a model. The protocol
 * and the figures are in docs/evidence/retrieval.md.
 */

const TOKEN = 'the-token-of-a-reviewer-of-this-figure';
const HEADERS = { authorization: `Bearer ${TOKEN}` };
const [LEAST_CHANGED, LEAST_UNCHANGED] = [0.95, 0.98];

type Answers = ReadonlyMap<string, Analysis>;

let folder = '';
let app: Awaited<ReturnType<typeof createApp>>;
let http: Awaited<ReturnType<typeof buildHttp>>;
/** The answers without any document or decision. */
let before: Answers;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-retrieval-'));
  await copyTestDatabase(join(folder, 'database'));
  const preset = embedded(folder, join(import.meta.dirname, '../../knowledge'));
  const config = parseConfig({
    ...preset,
    auth: { tokens: [{ name: 'mara', token: TOKEN, roles: ['admin'] }] },
    http: { ...preset.http, rateLimit: 1_000_000, tokenRateLimit: 1_000_000 },
    // Every answer waits for a person, so that every answer can be decided.
    triage: { ...preset.triage, thresholds: { ...preset.triage.thresholds, autoNotify: 1 } },
  });
  app = await createApp(config, silentLogger);
  http = await buildHttp(app);
  await app.work();
  before = await triageAll('before', RETRIEVAL_CASES);
});
afterAll(async () => {
  await http.close();
  await app.close({ drainMs: 1_000 });
  await rm(folder, { recursive: true, force: true });
});

const changed: [name: string, ok: boolean][] = [];
const unchanged: [name: string, ok: boolean][] = [];

describe('a document that names the error', () => {
  it.each(['markdown', 'html', 'docx', 'xlsx', 'csv', 'text'] as const)(
    '%s: changes cause or fix, with its own words',
    async (format) => {
      const answers = await withDocuments(
        format,
        RETRIEVAL_CASES.map((one) => toEntry(one, 'quoted')),
        `quoted-${format}`,
      );
      for (const one of RETRIEVAL_CASES) changed.push([`${format} ${one.name}`, usesDocument(answers, one)]);
    },
  );

  it.each(['markdown', 'pdf'] as const)('%s: in other words', async (format) => {
    const answers = await withDocuments(
      format,
      RETRIEVAL_CASES.map((one) => toEntry(one, 'other words')),
      `other-${format}`,
    );
    for (const one of RETRIEVAL_CASES)
      changed.push([`other words, ${format} ${one.name}`, usesDocument(answers, one)]);
  });
});

describe('a wrong document', () => {
  it.each(['markdown', 'xlsx', 'pdf'] as const)(
    '%s: about another error of the same tool, changes nothing',
    async (format) => {
      const answers = await withDocuments(
        format,
        RETRIEVAL_CASES.map((one) => toEntry(one, 'another error')),
        `near-${format}`,
      );
      for (const one of RETRIEVAL_CASES)
        unchanged.push([`near ${format} ${one.name}`, isUnchanged(answers, one)]);
    },
  );

  it.each([0, 1])('about all other errors, changes nothing (%i)', async (half) => {
    const [own, other] = [0, 1].map((rest) =>
      RETRIEVAL_CASES.filter((_, at) => at % 2 === (rest === 0 ? half : 1 - half)),
    );
    const entries = (other ?? []).flatMap((one) => [toEntry(one, 'quoted'), toEntry(one, 'other words')]);
    const answers = await withDocuments('markdown', entries, `others-${half}`, own);
    for (const one of own ?? []) unchanged.push([`others ${one.name}`, isUnchanged(answers, one)]);
  });
});

describe('what a person decided', () => {
  it('changes the answer to the same error in another repository, also its category; other errors keep theirs', async () => {
    const half = RETRIEVAL_CASES.filter((_, at) => at % 2 === 0);
    for (const one of half) await correct(before.get(one.name)?.id ?? '', one);
    const answers = await triageAll('elsewhere', RETRIEVAL_CASES, (one) => one.again);
    const rest = RETRIEVAL_CASES.filter((one) => !half.includes(one));
    const undecided = await triageAll('undecided', rest);
    for (const one of half) changed.push([`decision ${one.name}`, usesDecision(answers.get(one.name), one)]);
    for (const one of rest) unchanged.push([`decision ${one.name}`, isUnchanged(undecided, one)]);
  });
});

it('reaches the figures', () => {
  const report = (name: string, all: typeof changed) => {
    const right = all.filter(([, ok]) => ok).length;
    const missed = all.filter(([, ok]) => !ok).map(([what]) => what);
    process.stdout.write(
      `${name}: ${(right / all.length).toFixed(3)} (${right} of ${all.length})${missed.length === 0 ? '' : `; not: ${missed.join(', ')}`}\n`,
    );
    return right / all.length;
  };
  expect(changed.length).toBeGreaterThanOrEqual(60);
  const [used, left] = [
    report('a document or decision that names the error changes cause or fix', changed),
    report('a wrong document or decision changes nothing', unchanged),
  ];
  expect(used).toBeGreaterThanOrEqual(LEAST_CHANGED);
  expect(left).toBeGreaterThanOrEqual(LEAST_UNCHANGED);
});

/** The cause or the fix is the document's, and a claim cites it. */
function usesDocument(answers: Answers, one: RetrievalCase): boolean {
  const answer = answers.get(one.name)?.answer;
  if (answer === undefined) return false;
  return (
    (answer.fixRecommendation.includes(one.fix) || holdsCause(answer, one)) && citesDocument(answers, one)
  );
}

function holdsCause({ rootCause }: Analysis['answer'], { cause }: RetrievalCase): boolean {
  return rootCause.includes(cause.replace(/\.$/, ''));
}

function citesDocument(answers: Answers, one: RetrievalCase): boolean {
  const analysis = answers.get(one.name);
  const cited = new Set(analysis?.answer.claims.flatMap(({ evidence }) => evidence));
  return (
    analysis?.evidence.some(({ id, source }) => cited.has(id) && source.startsWith('team-knowledge/')) ??
    false
  );
}

function isUnchanged(answers: Answers, one: RetrievalCase): boolean {
  const [now, then] = [answers.get(one.name)?.answer, before.get(one.name)?.answer];
  return (
    now !== undefined && now.rootCause === then?.rootCause && now.fixRecommendation === then.fixRecommendation
  );
}

/** The decided category, cause and fix, and who decided. */
function usesDecision(analysis: Analysis | undefined, one: RetrievalCase): boolean {
  if (analysis === undefined || analysis.recalled !== null) return false;
  const { category, answer } = analysis;
  const isNamed = answer.rootCause.includes('mara') && answer.similarCases?.[0]?.confirmedBy === 'mara';
  return (
    category === decidedCategory(one) &&
    holdsCause(answer, one) &&
    answer.fixRecommendation.includes(one.fix) &&
    isNamed
  );
}

/** Adds documents, triages, and removes them. */
async function withDocuments(
  format: RunbookFormat,
  entries: readonly Entry[],
  round: string,
  cases = RETRIEVAL_CASES,
): Promise<Answers> {
  const ids: string[] = [];
  for (const { source, bytes } of makeDocuments(format, entries)) {
    ids.push((await app.knowledge.add({ source, bytes, category: null, importedBy: 'mara' })).document.id);
  }
  const answers = await triageAll(round, cases);
  for (const id of ids) await app.knowledge.remove(id);
  return answers;
}

/** Triages each case in a repository of its own. */
async function triageAll(
  round: string,
  cases: readonly RetrievalCase[],
  print = (one: RetrievalCase) => one.log,
): Promise<Answers> {
  const started = new Map<string, string>();
  for (const one of cases) {
    const text = ['$ make check', ...print(one), 'Error: Process completed with exit code 1.', ''].join('\n');
    const payload = {
      metadata: { repository: `acme/${one.name}-${round}`, pipeline: 'ci', number: 1 },
      logs: [{ name: 'log.txt', text }],
    };
    started.set(
      one.name,
      (await http.inject({ method: 'POST', url: '/api/builds', headers: HEADERS, payload })).json().buildId,
    );
  }
  const answers = new Map<string, Analysis>();
  for (const [name, buildId] of started) answers.set(name, await waitForAnswer(buildId));
  return answers;
}

const Found = z.object({ triage: z.object({ state: z.string() }).nullable(), analyses: z.array(Analysis) });

async function waitForAnswer(buildId: string): Promise<Analysis> {
  for (let tries = 0; tries < 1_500; tries++) {
    const { triage, analyses } = Found.parse(
      (await http.inject({ url: `/api/builds/${buildId}/analyses`, headers: HEADERS })).json(),
    );
    if (triage?.state === 'done' && analyses[0] !== undefined) return analyses[0];
    await sleep(20);
  }
  throw new Error(`${buildId} was never answered`);
}

/** A category that the machine did not name. */
function decidedCategory(one: RetrievalCase): Analysis['category'] {
  return before.get(one.name)?.category === 'CONFIG_ERROR' ? 'INFRA_ERROR' : 'CONFIG_ERROR';
}

async function correct(analysisId: string, one: RetrievalCase): Promise<void> {
  const reviews = await app.stores.reviews.list({}, { limit: 500, offset: 0 });
  const review = reviews.find((item) => item.analysisId === analysisId);
  if (review === undefined) throw new Error(`${one.name} does not wait for a person`);
  const url = `/api/reviews/${review.id}`;
  const held = await http.inject({ method: 'POST', url: `${url}/claim`, headers: HEADERS, payload: {} });
  const payload = {
    ...{ type: 'correct', category: decidedCategory(one), rootCause: one.cause, fixRecommendation: one.fix },
    version: z.object({ version: z.int() }).parse(held.json()).version,
  };
  const decided = await http.inject({ method: 'POST', url: `${url}/decision`, headers: HEADERS, payload });
  if (decided.statusCode !== 200) throw new Error(decided.body);
}
