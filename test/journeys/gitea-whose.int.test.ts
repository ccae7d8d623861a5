import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Build } from '../../src/domain/build.ts';
import { GradedAnswer as Graded, type GradedAnswer } from '../../src/domain/outcome.ts';
import { Outcomes } from '../../src/service/answers/outcomes.ts';
import { waitUntil } from '../support/gitea-server.ts';
import { type PythonIndex, startPythonIndex } from '../support/python-index.ts';
import { JUICE, REQUIREMENTS, SCALES, SCALES_3, toPressFiles } from './gitea-press.ts';
import { type GiteaInstallation, installGitea, RUN_MS, type ShownAnswer } from './install-gitea.ts';

/*
 * Three questions on a real Gitea: "Is it me?" in the comment of a pull request, "What changed?" where a package
 * broke the same commit, and "Was it right?" after the push that mends.
 */

let installation: GiteaInstallation;
let index: PythonIndex;
beforeAll(async () => {
  index = await startPythonIndex();
  index.publish('scales', '2.4.1', SCALES);
  installation = await installGitea('press', process.execPath);
});
afterAll(async () => {
  await installation?.dispose();
  await index?.close();
});

const Shown = z.object({ outcome: Graded.nullable() });

/** Waits until an answer is graded by what happened next. */
function waitForGrade({ id }: ShownAnswer): Promise<GradedAnswer> {
  return waitUntil(`${id} is graded. ${installation.service.errors()}`, RUN_MS, async () => {
    return (await installation.read(`/api/analyses/${id}`, Shown)).outcome;
  });
}

function listGrades({ grades }: GradedAnswer): Record<string, string> {
  return Object.fromEntries(grades.map(({ question, grade }) => [question, grade]));
}

async function answerOne(build: Build): Promise<ShownAnswer> {
  const answers = await installation.readAnswers(build);
  const [answer] = answers;
  if (answer === undefined || answers.length > 1) throw new Error(`${answers.length} answers`);
  return answer;
}

describe('the origin of a failure, on a real Gitea with its runner', {
  retry: 0,
  timeout: 4 * RUN_MS,
}, () => {
  it('is a package in the comment on a commit that passed before, and is graded after the pin', async () => {
    const { tree, ben, push, findBuild, commentOn, readPage } = installation;
    tree.commit(toPressFiles(index.url), 'Start the press');
    push(installation.gitea.admin, 'main');
    expect((await findBuild('ci', tree.git('rev-parse', 'HEAD'))).status).toBe('passed');
    tree.git('checkout', '--quiet', '-b', 'bottles');
    const commit = tree.commit(
      { 'press/juice.py': JUICE.replace('3', '2 + 1') },
      'Say why it is three',
      'Ben',
    );
    push(ben, 'bottles');
    const pullRequest = await installation.openPullRequest(ben, 'bottles');
    const green = await findBuild('ci', commit);
    expect(green.status).toBe('passed');

    index.publish('scales', '3.0.0', SCALES_3);
    await installation.rerun(green);
    const red = await findBuild('ci', commit, 2);
    expect(red.status).toBe('failed');
    const answer = await answerOne(red);

    expect(answer).toMatchObject({ category: 'DEPENDENCY_ERROR', kind: 'version_conflict' });
    expect(answer.changes).toMatchObject({ isSameCommit: true, since: { buildId: green.id } });
    expect(answer.changes?.changes[0]).toMatchObject({
      kind: 'python',
      name: 'scales',
      from: '2.4.1',
      to: '3.0.0',
      chosenBy: `unpinned in ${REQUIREMENTS}`,
    });
    expect(answer.whose).toMatchObject({ verdict: 'environment', probability: null, act: { what: 'pin' } });
    const comment = await commentOn(pullRequest, /scales 2\.4\.1 → 3\.0\.0/);
    expect(comment).toContain('Is it me?');
    expect(comment).toContain('No, what it runs with changed');
    expect(comment).toContain('Pin scales to 2.4.1');
    const page = await readPage(`/analyses/${answer.id}`);
    expect(page).toContain('Changed, not in the diff');

    const pinned = tree.commit({ [REQUIREMENTS]: 'scales==2.4.1\n' }, 'Pin the scales', 'Ben');
    push(ben, 'bottles');
    expect((await findBuild('ci', pinned)).status).toBe('passed');
    await commentOn(pullRequest, /fixed in/);
    const graded = await waitForGrade(answer);
    expect(graded.mend).toMatchObject({ kind: 'change', files: [REQUIREMENTS], doubt: null });
    expect(listGrades(graded)).toMatchObject({ category: 'right', advice: 'right', excuse: 'right' });
    const { questions } = await installation.read('/api/outcomes', Outcomes);
    expect(questions[0]).toMatchObject({ question: 'category', right: 1, wrong: 0 });
    expect(await readPage(`/analyses/${answer.id}`)).toContain('What happened next');
    expect(await readPage('/insights/trust')).toContain('Was it right?');
  });

  it('is the change in the comment, and is graded after the fixing push', async () => {
    const { tree, ben, push, findBuild, commentOn } = installation;
    tree.git('checkout', '--quiet', 'main');
    const pinned = tree.commit({ [REQUIREMENTS]: 'scales==2.4.1\n' }, 'Pin the scales');
    push(installation.gitea.admin, 'main');
    expect((await findBuild('ci', pinned)).status).toBe('passed');
    tree.git('checkout', '--quiet', '-b', 'larger');
    const broken = tree.commit(
      { 'press/juice.py': JUICE.replace('= 3', '= 4') },
      'Fill larger bottles',
      'Ben',
    );
    push(ben, 'larger');
    const pullRequest = await installation.openPullRequest(ben, 'larger');

    const answer = await answerOne(await findBuild('ci', broken));
    expect(answer).toMatchObject({
      category: 'TEST_FAILURE',
      whose: { verdict: 'change', act: { what: 'fix' } },
    });
    const comment = await commentOn(pullRequest, /new with this change/);
    expect(comment).toContain('Is it me?');
    expect(comment).toMatch(/Yours: `press\/juice\.py(?::\d+)?`/);

    const mended = tree.commit({ 'press/juice.py': JUICE }, 'Fill the usual bottles', 'Ben');
    push(ben, 'larger');
    expect((await findBuild('ci', mended)).status).toBe('passed');
    const graded = await waitForGrade(answer);
    expect(graded.mend).toMatchObject({ kind: 'change', files: ['press/juice.py'], doubt: null });
    expect(listGrades(graded)).toMatchObject({ category: 'right', suspect: 'right' });
    const { questions } = await installation.read('/api/outcomes', Outcomes);
    expect(questions[0]).toMatchObject({ question: 'category', right: 2, wrong: 0 });
  });
});
