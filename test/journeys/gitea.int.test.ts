import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Build } from '../../src/domain/build.ts';
import { computeHmac } from '../../src/providers/webhook.ts';
import { layOutAction } from '../action/runner.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';
import { type Account, type GiteaServer, waitUntil } from '../support/gitea-server.ts';
import { installOtherNode } from '../support/other-node.ts';
import { TOKEN } from '../support/service.ts';
import { CART, CONFIRM, EXPLAIN, SHOP_FILES, TAX } from './gitea-shop.ts';
import { type GiteaInstallation, installGitea, RUN_MS, SECRET, type ShownAnswer } from './install-gitea.ts';

const SHOP = 'acme/shop';

let installation: GiteaInstallation;
let gitea: GiteaServer;
let ben: Account;
let shop: GitRepository;
let answers = 0;

beforeAll(async () => {
  installation = await installGitea('shop', await installOtherNode('20.20.2'));
  ({ gitea, ben, tree: shop } = installation);
});
afterAll(() => installation?.dispose());

const findBuild: GiteaInstallation['findBuild'] = (...asked) => installation.findBuild(...asked);
const commentOn: GiteaInstallation['commentOn'] = (...asked) => installation.commentOn(...asked);
const statusOn: GiteaInstallation['statusOn'] = (...asked) => installation.statusOn(...asked);
const push: GiteaInstallation['push'] = (...asked) => installation.push(...asked);
const openPullRequest: GiteaInstallation['openPullRequest'] = (...asked) =>
  installation.openPullRequest(...asked);

async function readAnswers(build: Build): Promise<readonly ShownAnswer[]> {
  const analyses = await installation.readAnswers(build);
  answers += analyses.length;
  return analyses;
}

const Jobs = z.object({ jobs: z.array(z.object({ id: z.int(), name: z.string(), conclusion: z.string() })) });
const Based = z.object({ base: z.object({ sha: z.string() }) });

describe('a real Gitea with its runner', { retry: 0, timeout: 4 * RUN_MS }, () => {
  let deployed: Build;

  it('answers a deployment that lacks a secret, and stores the passed run next to it', async () => {
    const commit = shop.commit(SHOP_FILES, 'Start the shop');
    push(gitea.admin, 'main');

    deployed = await findBuild('deploy', commit);
    const [analysis] = await readAnswers(deployed);

    expect(deployed).toMatchObject({
      provider: 'gitea',
      repository: SHOP,
      status: 'failed',
      branch: 'main',
      pullRequest: null,
    });
    expect(analysis).toMatchObject({ category: 'CONFIG_ERROR', kind: 'permission_or_secret' });
    expect(analysis?.answer.title).toContain('DEPLOY_TOKEN');
    expect((await findBuild('ci', commit)).status).toBe('passed');
  });

  it('answers the rerun separately, and does not trust a line that its script only echoes', async () => {
    await gitea.api(gitea.admin, 'PUT', `/repos/${SHOP}/actions/secrets/DEPLOY_TOKEN`, z.unknown(), {
      data: 'of-the-shop',
    });
    await installation.rerun(deployed);

    const again = await findBuild('deploy', deployed.commit ?? '', 2);
    const [analysis] = await readAnswers(again);

    expect(again).toMatchObject({
      number: deployed.number,
      externalId: deployed.externalId,
      status: 'failed',
    });
    expect(analysis).toMatchObject({ category: 'CODE_ERROR' });
    expect(analysis?.answer.suspects[0]).toMatchObject({ path: 'deploy.mjs', line: 3 });
  });

  it('reports the commit as fixed once its run has passed', async () => {
    const { commit } = deployed;
    await statusOn(commit ?? '', 'failure');
    await gitea.api(gitea.admin, 'POST', `/repos/${SHOP}/actions/variables/TARGET`, z.unknown(), {
      value: '{"url":"https://shop.example"}',
    });
    await installation.rerun(deployed);

    expect(await findBuild('deploy', commit ?? '', 3)).toMatchObject({ status: 'passed' });
    await statusOn(commit ?? '', 'success');
  });

  it('answers the failed job of a matrix in a pull request, and reports when it is fixed', async () => {
    shop.git('checkout', '--quiet', '-b', 'round');
    const broken = shop.commit({ 'src/cart.mjs': CART.replace(', 0)', ', 1)') }, 'Start sums at one', 'Ben');
    push(ben, 'round');
    const pullRequest = await openPullRequest(ben, 'round');

    const build = await findBuild('ci', broken);
    const analyses = await readAnswers(build);
    expect(build).toMatchObject({ status: 'failed', branch: 'round', pullRequest, author: 'ben' });
    expect(analyses).toMatchObject([{ category: 'TEST_FAILURE' }]);
    expect(analyses[0]?.answer.title).toContain('cart adds up');
    expect(await commentOn(pullRequest, /TEST_FAILURE|Test failure/i)).toContain('cart adds up');
    await statusOn(broken, 'failure');

    const mended = shop.commit({ 'src/cart.mjs': CART }, 'Start sums at zero', 'Ben');
    push(ben, 'round');
    const passed = await findBuild('ci', mended);
    expect(passed.status).toBe('passed');
    expect(await commentOn(pullRequest, /fixed in/)).toContain(`ci #${passed.number}`);
  });

  it('answers a pull request from a fork, whose branch is not one of ours', async () => {
    const cleo = await gitea.addAccount('cleo');
    await gitea.api(gitea.admin, 'PUT', `/repos/${SHOP}/collaborators/cleo`, z.unknown(), {
      permission: 'write',
    });
    await gitea.api(cleo, 'POST', `/repos/${SHOP}/forks`, z.unknown(), {});
    await gitea.api(cleo, 'PATCH', '/repos/cleo/shop', z.unknown(), { has_actions: false });
    shop.git('checkout', '--quiet', 'main');
    const broken = shop.commit({ 'src/tax.mjs': TAX.replace('round', 'floor') }, 'Round down', 'Cleo');
    push(cleo, 'main', 'cleo/shop');
    const pullRequest = await openPullRequest(cleo, 'cleo:main');

    const build = await findBuild('ci', broken);
    const [analysis] = await readAnswers(build);
    expect(build).toMatchObject({
      status: 'failed',
      repository: SHOP,
      branch: null,
      pullRequest,
      author: 'cleo',
    });
    expect(analysis).toMatchObject({ category: 'TEST_FAILURE' });
    expect(await commentOn(pullRequest, /tax adds up/)).toContain('tax adds up');

    const mended = shop.commit({ 'src/tax.mjs': TAX }, 'Round again', 'Cleo');
    push(cleo, 'main', 'cleo/shop');
    expect((await findBuild('ci', mended)).status).toBe('passed');
    await commentOn(pullRequest, /fixed in/);
  });

  it('runs our Action in a job, with and without a server, and in a later job with the token of the run', async () => {
    await gitea.api(gitea.admin, 'POST', '/orgs/acme/repos', z.unknown(), { name: 'faultline' });
    const release = createGitRepository();
    await layOutAction(release.folder);
    release.commit({}, 'Release the Action');
    execFileSync('git', ['push', '--quiet', gitea.remote(gitea.admin, 'acme/faultline'), 'main'], {
      cwd: release.folder,
      stdio: 'pipe',
    });
    release.remove();
    const settings = `/repos/${SHOP}/actions`;
    await gitea.api(gitea.admin, 'POST', `${settings}/variables/FAULTLINE_URL`, z.unknown(), {
      value: installation.service.address,
    });
    await gitea.api(gitea.admin, 'PUT', `${settings}/secrets/FAULTLINE_TOKEN`, z.unknown(), { data: TOKEN });
    shop.git('checkout', '--quiet', '-b', 'explain', 'main');
    const commit = shop.commit(
      { 'src/cart.mjs': CART.replace(', 0)', ', 1)'), '.gitea/workflows/explain.yml': EXPLAIN },
      'Explain failures',
    );
    push(gitea.admin, 'explain');

    const build = await findBuild('explain', commit);
    const { jobs } = await gitea.api(
      gitea.admin,
      'GET',
      `/repos/${SHOP}/actions/runs/${build.externalId}/jobs`,
      Jobs,
    );
    const logs = jobs.map(({ id }) =>
      gitea.api(gitea.admin, 'GET', `/repos/${SHOP}/actions/jobs/${id}/logs`, z.string()),
    );
    const [inTheJob = '', later = ''] = await Promise.all(logs);

    expect(jobs.map(({ name, conclusion }) => [name, conclusion])).toEqual([
      ['test', 'failure'],
      ['explain', 'success'],
    ]);
    const url = `${gitea.url}/${SHOP}/actions/runs/${build.externalId}`;
    expect(inTheJob).toContain(`outputs TEST_FAILURE 0.97 ${url}`);
    expect(inTheJob).toMatch(
      /outputs \[\{"category":"TEST_FAILURE".*"path":"src\/cart\.mjs","line":1,"commit":"[0-9a-f]{40}"/,
    );
    expect(inTheJob).toMatch(/::error file=src\/cart\.mjs,line=1,title=“cart adds up”/);
    expect(inTheJob).toMatch(/Z Evidence\ttest\.log:\d+ +AssertionError/);
    expect(inTheJob).toMatch(new RegExp(`served TEST_FAILURE ${installation.service.address}/analyses/ana_`));
    expect(inTheJob).not.toContain(TOKEN);
    expect(later).toContain(`outputs TEST_FAILURE 0.97 ${url}`);
    expect(later).toMatch(/::error file=test\/cart\.test\.mjs,line=4/);
    // The answer that is in the log is no failure of its own.
    expect(await readAnswers(build)).toMatchObject([
      { category: 'TEST_FAILURE', answer: { title: '“cart adds up”: expected 300 but got 301' } },
    ]);
  });

  it('runs the failing command again in the job of a pull request, and begins its comment with the result', async () => {
    // Without the commits of the fork, of which one broke the same test and the next one mended it.
    shop.git('checkout', '--quiet', '-b', 'tried', deployed.commit ?? '');
    const broken = TAX.replace('0.19', '0.29');
    const diff = `--- a/src/tax.mjs\n+++ b/src/tax.mjs\n@@ -1 +1 @@\n-${broken}+${TAX}`;
    const commit = shop.commit(
      { 'src/tax.mjs': broken, 'fix.diff': diff, '.gitea/workflows/confirm.yml': CONFIRM },
      'Raise the tax',
      'Ben',
    );
    push(ben, 'tried');
    const pullRequest = await openPullRequest(ben, 'tried');

    const comment = await commentOn(pullRequest, /introduced by this change/);
    const [analysis] = await readAnswers(await findBuild('confirm / test', commit));
    const build = await findBuild('confirm', commit);
    const { jobs } = await gitea.api(
      gitea.admin,
      'GET',
      `/repos/${SHOP}/actions/runs/${build.externalId}/jobs`,
      Jobs,
    );
    const log = await gitea.api(
      gitea.admin,
      'GET',
      `/repos/${SHOP}/actions/jobs/${jobs[0]?.id}/logs`,
      z.string(),
    );

    const { base } = await gitea.api(gitea.admin, 'GET', `/repos/${SHOP}/pulls/${pullRequest}`, Based);
    const says = `Fails 3 of 3 here, 0 of 3 on the base (${base.sha.slice(0, 7)}): introduced by this change.`;
    expect(log).toContain(says);
    expect(log).toMatch(new RegExp(`verdict this-change ${commit}$`, 'm'));
    expect(analysis?.experiment).toMatchObject({
      verdict: 'this-change',
      bisection: { verdict: 'found', candidates: [{ commit, subject: 'Raise the tax' }] },
      fixes: { verdict: 'fixed', suggest: true },
      tests: ['tax adds up'],
      narrowed: expect.arrayContaining(['--test']),
    });
    expect(comment).toContain(says);
    expect(comment).toContain(`Broken by ${commit.slice(0, 7)}`);
    expect(comment).toMatch(
      /Change that was tried and fixes it:\*\*\s+```diff\n[\s\S]+\n\+export const taxOf = .*0\.19\);\n```/,
    );
    expect(comment.indexOf(says)).toBeLessThan(
      comment.lastIndexOf('“tax adds up” (test/tax.test.mjs:4) fails'),
    );
  });

  it('reports a missing log if a run was deleted before it was read', async () => {
    const { externalId, commit } = deployed;
    await gitea.api(gitea.admin, 'DELETE', `/repos/${SHOP}/actions/runs/${externalId}`, z.unknown());
    const run = {
      id: Number(externalId),
      run_number: 2,
      run_attempt: 4,
      conclusion: 'failure',
      head_branch: 'main',
      head_sha: commit,
    };
    const event = {
      action: 'completed',
      repository: { full_name: SHOP, default_branch: 'main' },
      workflow: { name: 'deploy' },
    };
    const body = JSON.stringify({
      ...event,
      workflow_run: { ...run, html_url: `${gitea.url}/${SHOP}/actions/runs/2` },
    });
    const signature = {
      'x-gitea-event': 'workflow_run',
      'x-gitea-delivery': 'of-a-deleted-run',
      'x-gitea-signature': computeHmac(SECRET, body),
    };
    const headers = { 'content-type': 'application/json', ...signature };
    expect(
      (await fetch(`${installation.service.address}/webhooks/gitea`, { method: 'POST', headers, body }))
        .status,
    ).toBe(202);

    const [analysis] = await readAnswers(await findBuild('deploy', commit ?? '', 4));
    expect(analysis?.answer).toMatchObject({
      title: 'The log could not be read',
      rootCause: expect.stringContaining('Gitea returned 404'),
    });
  });

  it('sends every delivery successfully', async () => {
    await waitUntil('every delivery was made', RUN_MS, async () =>
      gitea.deliveries().every(({ status }) => status !== 0),
    );
    const deliveries = gitea.deliveries();
    const refused = deliveries.filter(({ status }) => status < 200 || status > 299);
    const ended = deliveries.filter(({ action }) => action === 'completed');

    expect(refused).toEqual([]);
    expect(ended.length).toBeGreaterThan(10);
    const runs = ended.filter(({ event }) => event === 'workflow_run').length;
    console.info(
      `Gitea: ${runs} runs, ${deliveries.length} deliveries (${ended.length} of something that ended), refused: 0; ${answers} answers`,
    );
  });
});
