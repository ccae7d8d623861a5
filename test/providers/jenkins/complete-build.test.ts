import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildHttp } from '../../../src/api/server.ts';
import { createSparseBuild } from '../../../src/domain/build.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { createJenkinsBuildSource } from '../../../src/providers/jenkins/api.ts';
import { createJenkinsProvider, JenkinsSettings } from '../../../src/providers/jenkins/provider.ts';
import { NO_PROVIDERS } from '../../../src/providers/registry.ts';
import { createFakeHttpDeps, waitForRelay } from '../../support/fake-stores.ts';
import { TEST_CONFIG } from '../../support/http-deps.ts';
import { type JenkinsApi, startJenkinsApi } from '../../support/jenkins-api.ts';
import { sendJson } from '../../support/loopback-server.ts';

const START = Date.parse('2026-03-01T11:50:00Z');
const SECRET = 'a-jenkins-secret';
const MULTIBRANCH = { _class: 'org.jenkinsci.plugins.workflow.multibranch.WorkflowMultiBranchProject' };
const FOLDER = { _class: 'com.cloudbees.hudson.plugins.folder.Folder' };

let jenkins: JenkinsApi;
let pages: Record<string, unknown>;
let isAway: boolean;
beforeEach(async () => {
  jenkins = await startJenkinsApi();
  [pages, isAway] = [{}, false];
  jenkins.state.intercept = ({ url = '' }, response) => {
    const page = pages[url.replace(/\?.*$/, '')];
    if (isAway) response.writeHead(503).end();
    else if (page === undefined) return false;
    else sendJson(response, 200, page);
    return true;
  };
});
afterEach(() => jenkins.close());

/** The action of the Git plugin, as the API shows it beside others that say nothing. */
function getCheckoutStep(
  remote: string,
  branch: string,
  commit = 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b',
) {
  return {
    _class: 'hudson.plugins.git.util.BuildData',
    lastBuiltRevision: { SHA1: commit, branch: [{ SHA1: commit, name: branch }] },
    remoteUrls: [remote],
  };
}

function createSource() {
  return createJenkinsBuildSource({
    baseUrl: jenkins.url,
    user: 'faultline',
    token: '11e-token',
    timeoutMs: 5_000,
    maxLogBytes: 100_000,
    logger: silentLogger,
  });
}

async function complete(job: string, actions: readonly object[], folder: object = FOLDER) {
  const path = `/${job
    .split('/')
    .map((name) => `job/${encodeURIComponent(name)}`)
    .join('/')}`;
  pages[`${path}/12/api/json`] = { timestamp: START, duration: 30_000, actions: [{}, ...actions] };
  pages[path.replace(/job\/[^/]+$/, 'api/json')] = folder;
  const build = createSparseBuild({ provider: 'jenkins', repository: job, pipeline: job, number: '12' });
  return await createSource().complete?.(
    { ...build, url: `${jenkins.url}${path}/12/` },
    AbortSignal.timeout(5_000),
  );
}

describe('a build completed with data from Jenkins', () => {
  test('has the times, repository, branch and commit of a Pipeline', async () => {
    expect(
      await complete('shop', [
        getCheckoutStep('https://git.example.com/acme/shop.git', 'refs/remotes/origin/main'),
      ]),
    ).toMatchObject({
      repository: 'acme/shop',
      pipeline: 'shop',
      branch: 'main',
      commit: 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b',
      startedAt: '2026-03-01T11:50:00.000Z',
      finishedAt: '2026-03-01T11:50:30.000Z',
    });
  });

  test('has the branch in the name of a multibranch job, and the checkout of that branch', async () => {
    const actions = [
      getCheckoutStep('https://git.example.com/acme/library.git', 'v2'),
      getCheckoutStep('git@git.example.com:acme/shop.git', 'feature/coupon'),
    ];
    expect(await complete('shop/feature%2Fcoupon', actions, MULTIBRANCH)).toMatchObject({
      repository: 'acme/shop',
      pipeline: 'shop/feature%2Fcoupon',
      branch: 'feature/coupon',
    });
  });

  test('keeps the name of the job after a failed checkout next to a library', async () => {
    const library = getCheckoutStep('https://git.example.com/acme/library.git', 'v2');
    expect(await complete('shop/main', [library], MULTIBRANCH)).toMatchObject({
      repository: 'shop/main',
      branch: 'main',
      commit: null,
    });
  });

  test('keeps the name of the job for two repositories without a branch to choose by', async () => {
    const actions = ['shop', 'library'].map((name) =>
      getCheckoutStep(`https://git.example.com/acme/${name}.git`, 'main'),
    );
    expect(await complete('team/shop', actions)).toMatchObject({ repository: 'team/shop', branch: null });
  });
});

describe('an event of the Notification plugin', () => {
  const event = (phase: string) => ({
    name: 'main',
    display_name: 'main',
    url: 'job/shop/job/main/',
    build: {
      number: 12,
      phase,
      status: 'FAILURE',
      url: 'job/shop/job/main/12/',
      timestamp: START + 30_000,
      duration: 30_000,
      scm: {},
    },
  });

  async function receivePhases(phases: readonly string[], between: () => void) {
    const settings = JenkinsSettings.parse({ baseUrl: jenkins.url, webhookSecrets: [SECRET] });
    const { deps, state } = createFakeHttpDeps({
      config: { ...TEST_CONFIG, providers: { ...NO_PROVIDERS, jenkins: settings } },
      buildSources: {
        jenkins: await createJenkinsProvider(settings).openBuildSource({
          logger: silentLogger,
          timeoutMs: 5_000,
          maxLogBytes: 1,
        }),
      },
    });
    const app = await buildHttp(deps);
    for (const phase of phases) {
      await app.inject({
        method: 'POST',
        url: '/webhooks/jenkins',
        headers: { 'content-type': 'application/json', 'x-faultline-token': SECRET },
        payload: JSON.stringify(event(phase)),
      });
      await waitForRelay(state);
      between();
    }
    await app.close();
    return state.builds;
  }

  test('takes its address from Settings and its repository from the build, which later events keep', async () => {
    pages['/job/shop/job/main/12/api/json'] = {
      timestamp: START,
      duration: 30_000,
      actions: [getCheckoutStep('https://git.example.com/acme/shop.git', 'main')],
    };
    pages['/job/shop/api/json'] = MULTIBRANCH;
    const builds = await receivePhases(['COMPLETED', 'FINALIZED'], () => {
      isAway = true;
    });

    expect(builds).toMatchObject([
      {
        repository: 'acme/shop',
        pipeline: 'shop/main',
        branch: 'main',
        url: `${jenkins.url}/job/shop/job/main/12/`,
      },
    ]);
  });

  test('is stored with its own data while Jenkins does not respond', async () => {
    isAway = true;
    expect(await receivePhases(['COMPLETED'], () => undefined)).toMatchObject([
      { repository: 'shop/main', startedAt: '2026-03-01T11:50:00.000Z' },
    ]);
  });
});
