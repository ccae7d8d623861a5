import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import type { GradedAnswer } from '../../src/domain/outcome.ts';
import { Outcomes } from '../../src/service/answers/outcomes.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';
import { HEADERS, startTestService, type TestService } from '../support/test-service.ts';

/*
 * A push turns a branch red, Faultline answers, a later push or a re-run turns it green: each answer is graded by
 * what happened, without a click, whichever of the two arrives first.
 */

const REPOSITORY = 'acme/press';
const Received = z.object({ buildId: z.string() });
const Found = z.object({
  triage: z.object({ state: z.string() }).nullable(),
  analyses: z.array(z.object({ id: z.string() })),
});

let repository: GitRepository;
let service: TestService;
beforeAll(async () => {
  repository = createGitRepository();
  service = await startTestService(0.85, { [REPOSITORY]: repository.folder });
}, 240_000);
afterAll(async () => {
  await service.close();
  repository.remove();
});

interface Sent {
  readonly number: number;
  readonly attempt?: number;
  readonly branch: string;
  readonly commit: string;
  readonly status: 'passed' | 'failed' | 'skipped';
}

/** Sends a build with one test that passes, fails in src/press.js, or is skipped. */
async function send({ number, attempt = 1, branch, commit, status }: Sent): Promise<string> {
  const failed = status === 'failed';
  const trace = 'at squeeze (src/press.js:2:9)\n    at test/press.test.js:5:3';
  const marks = {
    passed: '',
    failed: `<failure message="expected 'juice', got 'pulp'">AssertionError: expected 'juice', got 'pulp'\n    ${trace}</failure>`,
    skipped: '<skipped/>',
  };
  const test = `<testcase classname="press" name="squeezes apples" time="0.1">${marks[status]}</testcase>`;
  const payload = {
    metadata: {
      repository: REPOSITORY,
      pipeline: 'ci',
      number,
      attempt,
      branch,
      commit,
      author: 'max',
      status: failed ? 'failed' : 'passed',
    },
    logs: [
      { name: 'log.txt', text: `$ make check\n${failed ? `AssertionError\n    ${trace}` : 'passed'}\n` },
    ],
    reports: [{ name: 'junit.xml', text: `<testsuite name="press" tests="1">${test}</testsuite>` }],
  };
  const sent = await service.http.inject({ method: 'POST', url: '/api/builds', headers: HEADERS, payload });
  return Received.parse(sent.json()).buildId;
}

async function waitForAnswer(buildId: string): Promise<string> {
  for (let tries = 0; tries < 1_500; tries++) {
    const url = `/api/builds/${buildId}/analyses`;
    const { triage, analyses } = Found.parse((await service.http.inject({ url, headers: HEADERS })).json());
    if (triage?.state === 'done' && analyses[0] !== undefined) return analyses[0].id;
    await sleep(20);
  }
  throw new Error(`${buildId} was never answered`);
}

async function waitForGrade(analysisId: string): Promise<GradedAnswer> {
  for (let tries = 0; tries < 1_500; tries++) {
    const graded = await service.app.stores.grades.find(analysisId);
    if (graded !== null) return graded;
    await sleep(20);
  }
  throw new Error(`${analysisId} was never graded`);
}

const Answered = z.object({ answer: z.object({ claims: z.array(z.object({ text: z.string() })) }) });

async function get(url: string): Promise<unknown> {
  const { statusCode, body } = await service.http.inject({ url, headers: HEADERS });
  expect(statusCode).toBe(200);
  return JSON.parse(body);
}

function listGrades({ grades }: GradedAnswer): Record<string, string> {
  return Object.fromEntries(grades.map(({ question, grade }) => [question, grade]));
}

const PRESS = 'export function squeeze() {\n  return "juice";\n}\n';
const TEST =
  'import { squeeze } from "../src/press.js";\n\nit("squeezes apples", () => {\n  expect(squeeze()).toBe("juice");\n});\n';

it('an answer is graded when the fixing push passes', async () => {
  const branch = 'main';
  const first = repository.commit({ 'src/press.js': PRESS, 'test/press.test.js': TEST }, 'Add a press');
  const broken = repository.commit({ 'src/press.js': PRESS.replace('juice', 'pulp') }, 'Squeeze harder');
  await send({ number: 1, branch, commit: first, status: 'passed' });
  const red = await waitForAnswer(await send({ number: 2, branch, commit: broken, status: 'failed' }));
  expect(await service.app.stores.grades.find(red)).toBeNull();
  const mended = repository.commit({ 'src/press.js': PRESS }, 'Squeeze gently again');
  const green = await send({ number: 3, branch, commit: mended, status: 'passed' });
  const graded = await waitForGrade(red);
  expect(graded.mend).toMatchObject({
    kind: 'change',
    green: { id: green },
    files: ['src/press.js'],
    commits: [{ commit: mended, subject: 'Squeeze gently again' }],
    doubt: null,
  });
  expect(listGrades(graded)).toMatchObject({ category: 'right', suspect: 'right' });

  const shown = await get(`/api/analyses/${red}`);
  expect(shown).toMatchObject({ outcome: { mend: { files: ['src/press.js'] } } });
  const { questions } = Outcomes.parse(await get('/api/outcomes'));
  expect(questions[0]).toMatchObject({ question: 'category', right: 1, wrong: 0, low: null });
  for (const url of [`/analyses/${red}`, '/insights/trust', '/insights/trust/outcomes']) {
    const { statusCode, body } = await service.http.inject({ url, headers: HEADERS });
    expect(statusCode).toBe(200);
    expect(body).toContain(url === '/insights/trust' ? 'Was it right?' : 'What happened next');
  }

  // It comes again: the answer offers what fixed it.
  const again = repository.commit({ 'src/press.js': PRESS.replace('juice', 'pulp') }, 'Squeeze harder again');
  const second = await waitForAnswer(await send({ number: 4, branch, commit: again, status: 'failed' }));
  const { answer } = Answered.parse(await get(`/api/analyses/${second}`));
  expect(answer.claims.map(({ text }) => text)).toContain(
    'The same failure was fixed by editing src/press.js (ci #2). No reviewer has confirmed this.',
  );
}, 120_000);

it('an answer given after the branch passed again is graded by the rerun of its commit', async () => {
  const branch = 'change-7';
  const commit = repository.commit({ 'notes.md': 'Apples.' }, 'Note apples');
  const buildId = await send({ number: 20, branch, commit, status: 'failed' });
  await send({ number: 20, attempt: 2, branch, commit, status: 'passed' });
  const graded = await waitForGrade(await waitForAnswer(buildId));
  expect(graded.mend).toMatchObject({ kind: 'rerun', files: [] });
}, 60_000);

it('a skipped test grades nothing', async () => {
  const branch = 'change-8';
  const broken = repository.commit({ 'src/press.js': PRESS.replace('juice', 'peel') }, 'Peel');
  const red = await waitForAnswer(await send({ number: 30, branch, commit: broken, status: 'failed' }));
  const skipped = repository.commit(
    { 'test/press.test.js': TEST.replace('it(', 'it.skip(') },
    'Make it green',
  );
  await send({ number: 31, branch, commit: skipped, status: 'skipped' });
  const graded = await waitForGrade(red);
  expect(graded.mend.doubt).toBe('green because the test was skipped');
  expect(new Set(Object.values(listGrades(graded)))).toEqual(new Set(['doubtful']));
}, 60_000);

it('the changes of a force push are read', async () => {
  const branch = 'change-9';
  repository.git('checkout', '--quiet', '-b', branch);
  const broken = repository.commit(
    { 'src/press.js': PRESS.replace('juice', 'seeds'), 'src/lid.js': 'export const lid = true;\n' },
    'Open',
  );
  const red = await waitForAnswer(await send({ number: 40, branch, commit: broken, status: 'failed' }));
  repository.git('reset', '--quiet', '--hard', 'HEAD~1');
  const amended = repository.commit(
    { 'src/press.js': PRESS, 'src/lid.js': 'export const lid = true;\n' },
    'Open',
  );
  await send({ number: 41, branch, commit: amended, status: 'passed' });
  const graded = await waitForGrade(red);
  expect(graded.mend).toMatchObject({ kind: 'change', files: ['src/press.js'], doubt: null });
}, 60_000);
