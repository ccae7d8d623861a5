import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Analysis } from '../../src/domain/analysis.ts';
import { RETRIEVAL_CASES, type RetrievalCase } from '../support/retrieval/cases.ts';
import { type Entry, makeDocuments, type RunbookFormat, toEntry } from '../support/retrieval/documents.ts';
import { HEADERS, startTestService, type TestService } from '../support/test-service.ts';

/*
 * What a team's documents and people's decisions change in an answer, through the whole embedded service
 * without a model. The protocol
 * and the figures are in docs/evidence/retrieval.md.
 */

const [MIN_CHANGED, MIN_UNCHANGED] = [0.95, 0.98];

type Answers = ReadonlyMap<string, Analysis>;

let service: TestService;
/** The answers without any document or decision. */
let before: Answers;

beforeAll(async () => {
  // Every answer waits for a person, so that every answer can be decided.
  service = await startTestService(1);
  before = await triageAll('before', RETRIEVAL_CASES);
});
afterAll(() => service.close());

const changed: [name: string, ok: boolean][] = [];
const unchanged: [name: string, ok: boolean][] = [];

describe('a document that names the error', () => {
  it.each(['markdown', 'html', 'docx', 'xlsx', 'csv', 'text'] as const)(
    'changes cause or fix, with its own words: %s',
    async (format) => {
      const answers = await withDocuments(
        format,
        RETRIEVAL_CASES.map((retrievalCase) => toEntry(retrievalCase, 'quoted')),
        `quoted-${format}`,
      );
      for (const retrievalCase of RETRIEVAL_CASES)
        changed.push([`${format} ${retrievalCase.name}`, usesDocument(answers, retrievalCase)]);
    },
  );

  it.each(['markdown', 'pdf'] as const)(
    'changes cause or fix even if its words differ from the log: %s',
    async (format) => {
      const answers = await withDocuments(
        format,
        RETRIEVAL_CASES.map((retrievalCase) => toEntry(retrievalCase, 'other words')),
        `other-${format}`,
      );
      for (const retrievalCase of RETRIEVAL_CASES)
        changed.push([`other words, ${format} ${retrievalCase.name}`, usesDocument(answers, retrievalCase)]);
    },
  );
});

describe('a document that does not apply', () => {
  it.each(['markdown', 'xlsx', 'pdf'] as const)(
    'changes nothing if it is about another error of the same tool: %s',
    async (format) => {
      const answers = await withDocuments(
        format,
        RETRIEVAL_CASES.map((retrievalCase) => toEntry(retrievalCase, 'another error')),
        `near-${format}`,
      );
      for (const retrievalCase of RETRIEVAL_CASES)
        unchanged.push([`near ${format} ${retrievalCase.name}`, isUnchanged(answers, retrievalCase)]);
    },
  );

  it.each([0, 1])('changes nothing if it is about all other errors (%i)', async (half) => {
    const [own, other] = [0, 1].map((rest) =>
      RETRIEVAL_CASES.filter((_, at) => at % 2 === (rest === 0 ? half : 1 - half)),
    );
    const entries = (other ?? []).flatMap((retrievalCase) => [
      toEntry(retrievalCase, 'quoted'),
      toEntry(retrievalCase, 'other words'),
    ]);
    const answers = await withDocuments('markdown', entries, `others-${half}`, own);
    for (const retrievalCase of own ?? [])
      unchanged.push([`others ${retrievalCase.name}`, isUnchanged(answers, retrievalCase)]);
  });
});

describe('a decision of a person', () => {
  it('changes the answer and category of the same error in another repository, but not of other errors', async () => {
    const half = RETRIEVAL_CASES.filter((_, at) => at % 2 === 0);
    for (const retrievalCase of half) await correct(before.get(retrievalCase.name)?.id ?? '', retrievalCase);
    const answers = await triageAll('elsewhere', RETRIEVAL_CASES, (retrievalCase) => retrievalCase.again);
    const rest = RETRIEVAL_CASES.filter((retrievalCase) => !half.includes(retrievalCase));
    const undecided = await triageAll('undecided', rest);
    for (const retrievalCase of half)
      changed.push([
        `decision ${retrievalCase.name}`,
        usesDecision(answers.get(retrievalCase.name), retrievalCase),
      ]);
    for (const retrievalCase of rest)
      unchanged.push([`decision ${retrievalCase.name}`, isUnchanged(undecided, retrievalCase)]);
  });
});

it('the retrieval figures meet their bars', () => {
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
  expect(used).toBeGreaterThanOrEqual(MIN_CHANGED);
  expect(left).toBeGreaterThanOrEqual(MIN_UNCHANGED);
});

/** The cause or the fix is the document's, and a claim cites it. */
function usesDocument(answers: Answers, retrievalCase: RetrievalCase): boolean {
  const answer = answers.get(retrievalCase.name)?.answer;
  if (answer === undefined) return false;
  return (
    (answer.fixRecommendation.includes(retrievalCase.fix) || holdsCause(answer, retrievalCase)) &&
    citesDocument(answers, retrievalCase)
  );
}

function holdsCause({ rootCause }: Analysis['answer'], { cause }: RetrievalCase): boolean {
  return rootCause.includes(cause.replace(/\.$/, ''));
}

function citesDocument(answers: Answers, retrievalCase: RetrievalCase): boolean {
  const analysis = answers.get(retrievalCase.name);
  const cited = new Set(analysis?.answer.claims.flatMap(({ evidence }) => evidence));
  return (
    analysis?.evidence.some(({ id, source }) => cited.has(id) && source.startsWith('team-knowledge/')) ??
    false
  );
}

function isUnchanged(answers: Answers, retrievalCase: RetrievalCase): boolean {
  const [now, then] = [answers.get(retrievalCase.name)?.answer, before.get(retrievalCase.name)?.answer];
  return (
    now !== undefined && now.rootCause === then?.rootCause && now.fixRecommendation === then.fixRecommendation
  );
}

/** The decided category, cause and fix, and who decided. */
function usesDecision(analysis: Analysis | undefined, retrievalCase: RetrievalCase): boolean {
  if (analysis === undefined || analysis.recalled !== null) return false;
  const { category, answer } = analysis;
  const isNamed = answer.rootCause.includes('anna') && answer.similarCases?.[0]?.confirmedBy === 'anna';
  return (
    category === chooseDecidedCategory(retrievalCase) &&
    holdsCause(answer, retrievalCase) &&
    answer.fixRecommendation.includes(retrievalCase.fix) &&
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
    ids.push(
      (await service.app.knowledge.add({ source, bytes, category: null, importedBy: 'mara' })).document.id,
    );
  }
  const answers = await triageAll(round, cases);
  for (const id of ids) await service.app.knowledge.remove(id);
  return answers;
}

/** Triages each case in a repository of its own. */
async function triageAll(
  round: string,
  cases: readonly RetrievalCase[],
  print = (retrievalCase: RetrievalCase) => retrievalCase.log,
): Promise<Answers> {
  const started = new Map<string, string>();
  for (const retrievalCase of cases) {
    const text = [
      '$ make check',
      ...print(retrievalCase),
      'Error: Process completed with exit code 1.',
      '',
    ].join('\n');
    const payload = {
      metadata: { repository: `acme/${retrievalCase.name}-${round}`, pipeline: 'ci', number: 1 },
      logs: [{ name: 'log.txt', text }],
    };
    started.set(
      retrievalCase.name,
      (await service.http.inject({ method: 'POST', url: '/api/builds', headers: HEADERS, payload })).json()
        .buildId,
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
      (await service.http.inject({ url: `/api/builds/${buildId}/analyses`, headers: HEADERS })).json(),
    );
    if (triage?.state === 'done' && analyses[0] !== undefined) return analyses[0];
    await sleep(20);
  }
  throw new Error(`${buildId} was never answered`);
}

/** A category that the machine did not name. */
function chooseDecidedCategory(retrievalCase: RetrievalCase): Analysis['category'] {
  return before.get(retrievalCase.name)?.category === 'CONFIG_ERROR' ? 'INFRA_ERROR' : 'CONFIG_ERROR';
}

async function correct(analysisId: string, retrievalCase: RetrievalCase): Promise<void> {
  const reviews = await service.app.stores.reviews.list({}, { limit: 500, offset: 0 });
  const review = reviews.find((item) => item.analysisId === analysisId);
  if (review === undefined) throw new Error(`${retrievalCase.name} does not wait for a person`);
  const url = `/api/reviews/${review.id}`;
  const held = await service.http.inject({
    method: 'POST',
    url: `${url}/claim`,
    headers: HEADERS,
    payload: {},
  });
  const payload = {
    type: 'correct',
    category: chooseDecidedCategory(retrievalCase),
    rootCause: retrievalCase.cause,
    fixRecommendation: retrievalCase.fix,
    version: z.object({ version: z.int() }).parse(held.json()).version,
  };
  const decided = await service.http.inject({
    method: 'POST',
    url: `${url}/decision`,
    headers: HEADERS,
    payload,
  });
  if (decided.statusCode !== 200) throw new Error(decided.body);
}
