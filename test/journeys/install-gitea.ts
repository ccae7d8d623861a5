import { execFileSync } from 'node:child_process';
import { expect } from 'vitest';
import { z } from 'zod';
import { GivenAnalysis, ShownAnalysis } from '../../src/domain/analysis.ts';
import { Build } from '../../src/domain/build.ts';
import { ShownWhose } from '../../src/service/answers/whose.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';
import { type Account, type GiteaServer, startGitea, waitUntil } from '../support/gitea-server.ts';
import { TOKEN } from '../support/service.ts';
import { installEmbedded } from './install-embedded.ts';
import type { Installation } from './webhook-to-review.ts';

export const SECRET = 'a-webhook-secret-for-gitea';
/** The time of a push, until its last job has ended and Faultline has answered. */
export const RUN_MS = 90_000;

const ShownAnswer = ShownAnalysis.extend({ whose: ShownWhose.nullable() }).transform(
  ({ whose, ...shown }) => ({
    ...GivenAnalysis.parse(shown),
    whose,
  }),
);
export type ShownAnswer = z.infer<typeof ShownAnswer>;
const Answered = z.object({
  triage: z.object({ state: z.string() }).nullable(),
  analyses: z.array(ShownAnswer),
});
const Found = z.object({ items: z.array(Build) });
const Numbered = z.object({ number: z.int() });
const Comments = z.array(z.object({ id: z.int(), body: z.string(), user: z.object({ login: z.string() }) }));
const Statuses = z.object({
  statuses: z.array(z.object({ context: z.string(), status: z.string(), description: z.string() })),
});

/** A real Gitea whose repository reports to a real service, and a work tree of that repository. */
export interface GiteaInstallation {
  readonly gitea: GiteaServer;
  readonly service: Installation;
  /** A person who may push. */
  readonly ben: Account;
  readonly tree: GitRepository;
  /** Asks the service's API. Throws with its words where it refuses. */
  read<Value>(path: string, schema: z.ZodType<Value>): Promise<Value>;
  /** Returns a page of the console. */
  readPage(path: string): Promise<string>;
  /**
   * Waits for the build of a run that has ended: its own event names number and pipeline, those of its jobs
   * do not.
   */
  findBuild(pipeline: string, commit: string, attempt?: number): Promise<Build>;
  /** Waits for the answers to a build. */
  readAnswers(build: Build): Promise<readonly ShownAnswer[]>;
  /** Waits until Faultline's comment on a pull request says this. */
  commentOn(pullRequest: number, says: RegExp): Promise<string>;
  /** Waits until the newest status that Faultline set on a commit is this one. */
  statusOn(commit: string, wanted: string): Promise<void>;
  push(as: Account, branch: string, repository?: string): void;
  openPullRequest(as: Account, head: string): Promise<number>;
  /** Starts the run of a build again. */
  rerun(build: Build): Promise<void>;
  dispose(): Promise<void>;
}

/** Starts both, with the repository `acme/NAME`. `node` is the program that jobs find as `node`. */
export async function installGitea(name: string, node: string): Promise<GiteaInstallation> {
  const repository = `acme/${name}`;
  const gitea = await startGitea(node);
  const { admin, api } = gitea;
  const [bot, ben] = [await gitea.addAccount('faultline-bot'), await gitea.addAccount('ben')];
  await api(admin, 'POST', '/orgs', z.unknown(), { username: 'acme' });
  await api(admin, 'POST', '/orgs/acme/repos', z.unknown(), { name, private: true });
  for (const account of [bot, ben]) {
    const path = `/repos/${repository}/collaborators/${account.name}`;
    await api(admin, 'PUT', path, z.unknown(), { permission: 'write' });
  }
  const service = await startReporting(gitea, bot, repository);
  const tree = createGitRepository();
  const request = async (path: string): Promise<string> => {
    const response = await fetch(service.address + path, { headers: { authorization: `Bearer ${TOKEN}` } });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return text;
  };
  const read: GiteaInstallation['read'] = async (path, schema) =>
    schema.parse(JSON.parse(await request(path)));
  const said = () => `${service.errors()} ${gitea.said()}`;
  return {
    gitea,
    service,
    ben,
    tree,
    read,
    readPage: request,
    findBuild: (pipeline, commit, attempt = 1) =>
      waitUntil(
        `attempt ${attempt} of ${pipeline} at ${commit.slice(0, 10)} has arrived. ${said()}`,
        RUN_MS,
        async () => {
          const { items } = await read('/api/builds?limit=50', Found);
          const isIt = (build: Build) =>
            build.pipeline === pipeline && build.commit === commit && build.attempt === attempt;
          return items.find((build) => isIt(build) && /^\d+$/.test(build.number)) ?? null;
        },
      ),
    readAnswers: ({ id, pipeline, number }) =>
      waitUntil(`${pipeline} #${number} is answered. ${said()}`, RUN_MS, async () => {
        const { triage, analyses } = await read(`/api/builds/${id}/analyses`, Answered);
        return triage?.state === 'done' && analyses.length > 0 ? analyses : null;
      }),
    commentOn: (pullRequest, says) =>
      waitUntil(`the comment on #${pullRequest} says ${says}. ${said()}`, RUN_MS, async () => {
        const path = `/repos/${repository}/issues/${pullRequest}/comments`;
        const comments = await api(admin, 'GET', path, Comments);
        const own = comments.filter(({ user }) => user.login === bot.name);
        expect(own.length).toBeLessThan(2);
        return own.find(({ body }) => says.test(body))?.body ?? null;
      }),
    statusOn: async (commit, wanted) => {
      await waitUntil(`the status of ${commit.slice(0, 10)} is ${wanted}`, RUN_MS, async () => {
        const path = `/repos/${repository}/commits/${commit}/status`;
        const { statuses } = await api(admin, 'GET', path, Statuses);
        return statuses.some(({ context, status }) => context === 'Faultline' && status === wanted);
      });
    },
    push: (as, branch, to = repository) => {
      const args = ['push', '--quiet', gitea.remote(as, to), branch];
      execFileSync('git', args, { cwd: tree.folder, stdio: 'pipe' });
    },
    openPullRequest: async (as, head) => {
      const body = { title: `Merge ${head}`, head, base: 'main' };
      return (await api(as, 'POST', `/repos/${repository}/pulls`, Numbered, body)).number;
    },
    rerun: async ({ externalId }) => {
      await api(admin, 'POST', `/repos/${repository}/actions/runs/${externalId}/rerun`, z.unknown());
    },
    dispose: async () => {
      await service.dispose();
      await gitea.stop();
      tree.remove();
    },
  };
}

/** Starts a service that may read and comment, and a webhook of the repository that tells it of runs. */
async function startReporting(
  { admin, api, url }: GiteaServer,
  bot: Account,
  repository: string,
): Promise<Installation> {
  const scopes = ['read:repository', 'write:repository', 'write:issue', 'read:user'];
  const { sha1 } = await api(bot, 'POST', `/users/${bot.name}/tokens`, z.object({ sha1: z.string() }), {
    name: 'faultline',
    scopes,
  });
  const service = await installEmbedded({
    FAULTLINE_GITEA_URL: url,
    FAULTLINE_GITEA_TOKEN: sha1,
    FAULTLINE_GITEA_WEBHOOK_SECRET: SECRET,
    FAULTLINE_GITEA_WRITES: 'comment,status',
  });
  await api(admin, 'POST', `/repos/${repository}/hooks`, z.unknown(), {
    type: 'gitea',
    active: true,
    events: ['workflow_run', 'workflow_job'],
    config: { url: `${service.address}/webhooks/gitea`, content_type: 'json', secret: SECRET },
  });
  return service;
}
