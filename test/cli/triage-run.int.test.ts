import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Host, type ProviderWorld, startHost } from '../providers/contract.ts';
import { azureWorld } from '../providers/worlds/azure.ts';
import { circleciWorld, toWorkflowId } from '../providers/worlds/circleci.ts';
import { giteaWorld } from '../providers/worlds/gitea.ts';
import { githubWorld } from '../providers/worlds/github.ts';
import { gitlabWorld } from '../providers/worlds/gitlab.ts';
import { readCapturedFailure } from '../support/captured-failures.ts';
import { createGitRepository } from '../support/git-repository.ts';
import { type JenkinsApi, startJenkinsApi } from '../support/jenkins-api.ts';
import { sendJson } from '../support/loopback-server.ts';
import { runFaultline } from './faultline.ts';

const { log, category } = readCapturedFailure('cart-discount-rounding');
const ENDED = '2026-03-01T11:00:00Z';
const PAST = [
  { id: 90, status: 'failed', ended: ENDED, log },
  { id: 91, status: 'passed', ended: ENDED, log: 'ok\n' },
  { id: 92, status: 'running', ended: ENDED, log: '' },
] as const;
const Answers = z.object({ analyses: z.tuple([z.object({ category: z.string() })]) });
const readCategory = (json: string) => Answers.parse(JSON.parse(json)).analyses[0].category;

interface HostOfRuns {
  readonly world: ProviderWorld;
  readonly setting: string;
  /** The path below the host's own address at which its API begins. */
  readonly api?: string;
  /** Another variable in which people keep the token of this host. */
  readonly usualToken: string;
  /** Returns the path of a run's page. */
  page(id: number): string;
}

const HOSTS: Readonly<Record<string, HostOfRuns>> = {
  GitHub: {
    world: githubWorld,
    setting: 'FAULTLINE_GITHUB',
    usualToken: 'GH_TOKEN',
    page: (id) => `shop/api/actions/runs/${id}`,
  },
  Gitea: {
    world: giteaWorld,
    setting: 'FAULTLINE_GITEA',
    usualToken: 'GITEA_TOKEN',
    page: (id) => `shop/api/actions/runs/${id}`,
  },
  GitLab: {
    world: gitlabWorld,
    setting: 'FAULTLINE_GITLAB',
    usualToken: 'GITLAB_TOKEN',
    page: (id) => `shop/api/-/pipelines/${id}`,
  },
  CircleCI: {
    world: circleciWorld,
    setting: 'FAULTLINE_CIRCLECI',
    usualToken: 'CIRCLE_TOKEN',
    page: (id) => `pipelines/gh/shop/api/12/workflows/${toWorkflowId(id)}`,
  },
  'Azure Pipelines': {
    world: azureWorld,
    setting: 'FAULTLINE_AZURE',
    api: '/acme',
    usualToken: 'AZURE_DEVOPS_EXT_PAT',
    page: (id) => `acme/shop/_build/results?buildId=${id}`,
  },
};
const BY_ID = ['GitHub', 'Gitea', 'GitLab'];

describe.each(Object.entries(HOSTS))(
  'a run of %s',
  (name, { world, setting, api = '', usualToken, page }) => {
    let host: Host;
    let env: Record<string, string>;
    beforeAll(async () => {
      host = await startHost(world);
      host.state.past = PAST;
      env = { [`${setting}_URL`]: `${host.url}${api}`, [`${setting}_TOKEN`]: 'token-of-the-test' };
    });
    afterAll(() => host.close());
    const triage = async (id: number, more: readonly string[] = []) =>
      await runFaultline(['triage', '--run', `${host.url}/${page(id)}`, ...more], { env });

    it('is fetched and explained', async () => {
      const { code, stdout, stderr } = await triage(90, ['--json']);

      expect([code, stderr]).toEqual([0, expect.not.stringContaining('rror')]);
      expect(readCategory(stdout)).toBe(category);
      expect(stdout).toContain('43.43');
    });

    it('is fetched with the token that other programs use', async () => {
      host.state.credentials.length = 0;
      const { code, stdout } = await runFaultline(['triage', '--run', `${host.url}/${page(90)}`, '--json'], {
        env: { [`${setting}_URL`]: `${host.url}${api}`, [usualToken]: 'token-of-another-program' },
      });

      expect([code, readCategory(stdout)]).toEqual([0, category]);
      expect(host.state.credentials.at(0)).toContain('token-of-another-program');
    });

    if (BY_ID.includes(name))
      it('is also found by its id in the repository of a clone', async () => {
        const clone = createGitRepository();
        clone.commit({ 'a.txt': 'a' }, 'Begin');
        clone.git('remote', 'add', 'origin', `${host.url}/shop/api.git`);
        const { code, stdout } = await runFaultline(
          ['triage', '--run', '90', '--repo', clone.folder, '--json'],
          {
            env,
          },
        );
        clone.remove();

        expect([code, readCategory(stdout)]).toEqual([0, category]);
      });

    it.each([
      ['passed', 91, /nothing to triage in .*: it passed\./],
      ['is still running', 92, /nothing to triage in .*has not ended/],
    ])('that %s is refused with the reason', async (_what, id, said) => {
      const { code, stderr } = await triage(id);

      expect([code, stderr]).toEqual([4, expect.stringMatching(said)]);
    });

    it('that does not exist is named in the error', async () => {
      const { code, stderr } = await triage(404_404);

      expect([code, stderr]).toEqual([3, expect.stringContaining('404404')]);
    });

    it('is not read with a token without permission, and the error names the setting', async () => {
      host.state.forbidden = /./;
      const { code, stderr } = await triage(90);
      host.state.forbidden = null;

      expect([code, stderr]).toEqual([4, expect.stringContaining(`${setting}_TOKEN`)]);
    });
  },
);

describe('a build of Jenkins', () => {
  let jenkins: JenkinsApi;
  let env: Record<string, string>;
  beforeAll(async () => {
    jenkins = await startJenkinsApi();
    for (const number of [812, 813, 814]) jenkins.state.consoles.set(`/job/shop/${number}/`, log);
    jenkins.state.intercept = ({ url = '' }, response) => {
      const number = Number(/^\/job\/shop\/(81[234])\/api\/json/.exec(url)?.[1]);
      if (Number.isNaN(number)) return false;
      const build = { number, building: number === 814, artifacts: [], timestamp: 0, duration: 1000 };
      sendJson(response, 200, { ...build, result: { 812: 'FAILURE', 813: 'SUCCESS' }[number] ?? null });
      return true;
    };
    env = {
      FAULTLINE_JENKINS_URL: jenkins.url,
      FAULTLINE_JENKINS_USER: 'ann',
      FAULTLINE_JENKINS_TOKEN: 'token-of-the-test',
    };
  });
  afterAll(() => jenkins.close());

  it.each([
    ['its address', () => `${jenkins.url}/job/shop/812/console`],
    ['its path', () => 'job/shop/812'],
  ])('is fetched and explained by %s', async (_what, run) => {
    const { code, stdout } = await runFaultline(['triage', '--run', run(), '--json'], { env });

    expect([code, readCategory(stdout)]).toEqual([0, category]);
  });

  it.each([
    [813, 4, /it passed/],
    [814, 4, /has not ended/],
    [815, 3, /404 for build 815/],
  ])('with number %i is refused with the reason', async (number, exit, said) => {
    const { code, stderr } = await runFaultline(['triage', '--run', `job/shop/${number}`], { env });

    expect([code, stderr]).toEqual([exit, expect.stringMatching(said)]);
  });
});

describe('an argument that names no run', () => {
  it.each([
    ['https://ci.example.com/shop/api/actions/runs/1', 2, /No CI is configured at ci\.example\.com/],
    ['https://github.com/shop/api/pull/7', 3, /is not the page of a run.*actions\/runs\/ID/],
    ['latest', 3, /names no run/],
  ])('such as %s is refused with the accepted forms', async (run, exit, said) => {
    const { code, stderr } = await runFaultline(['triage', '--run', run]);

    expect([code, stderr]).toEqual([exit, expect.stringMatching(said)]);
  });

  it('that is missing, with no log either, is requested', async () => {
    const { code, stderr } = await runFaultline(['triage']);

    expect([code, stderr]).toEqual([2, expect.stringContaining('Name a log, or a run with --run.')]);
  });
});
