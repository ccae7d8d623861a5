import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { createSparseBuild, type NewBuild } from '../../src/domain/build.ts';
import type { Environment, Inputs } from './inputs.ts';

/**
 * Fields of the event that started the run: its pull request, and the commits to compare with. On
 * `pull_request` events, GITHUB_SHA is a merge commit that no one wrote.
 */
const Event = z.object({
  pull_request: z
    .object({
      number: z.int().positive(),
      head: z.object({ sha: z.string(), ref: z.string() }),
      base: z.object({ sha: z.string() }).optional(),
    })
    .optional(),
  before: z.string().optional(),
  repository: z.object({ default_branch: z.string().optional() }).optional(),
});

/** Returns the run as a build, from the runner's environment variables. */
export async function buildOfRun(
  environment: Environment,
  inputs: Pick<Inputs, 'pipeline' | 'job'>,
): Promise<NewBuild> {
  const readVariable = (name: string) => environment[name]?.trim() || null;
  const pull = (await readEvent(readVariable('GITHUB_EVENT_PATH'))).pull_request;
  const attempt = Number(readVariable('GITHUB_RUN_ATTEMPT') ?? 1);
  return createSparseBuild({
    repository: readVariable('GITHUB_REPOSITORY') ?? 'local/build',
    pipeline: inputs.pipeline.slice(0, 500),
    number: readVariable('GITHUB_RUN_NUMBER') ?? '1',
    attempt: Number.isInteger(attempt) && attempt > 0 ? attempt : 1,
    externalId: readVariable('GITHUB_RUN_ID'),
    job: inputs.job.slice(0, 500) || null,
    branch:
      pull?.head.ref ??
      readVariable('GITHUB_HEAD_REF') ??
      (readVariable('GITHUB_REF_TYPE') === 'tag' ? null : readVariable('GITHUB_REF_NAME')),
    commit: pull?.head.sha ?? readVariable('GITHUB_SHA'),
    author: readVariable('GITHUB_ACTOR'),
    pullRequest: pull?.number ?? null,
    url: runUrl(environment),
  });
}

/**
 * Returns the head of the run's pull request and the commits or branches to compare with, best first: the
 * base of the pull request, the commit pushed before, the default branch.
 */
export async function compareByRun(
  environment: Environment,
): Promise<{ readonly pullHead: string | null; readonly names: string[] }> {
  const {
    pull_request: pull,
    before,
    repository,
  } = await readEvent(environment.GITHUB_EVENT_PATH?.trim() || null);
  const pushed = before !== undefined && /[1-9a-f]/.test(before) ? before : undefined;
  return {
    pullHead: pull?.head.sha ?? null,
    names: [pull?.base?.sha, pushed, repository?.default_branch].flatMap((name) => name || []),
  };
}

/** Returns the URL of the run's page. Returns null outside a run. */
export function runUrl(environment: Environment): string | null {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: id } = environment;
  return server && repository && id ? `${server}/${repository}/actions/runs/${id}` : null;
}

async function readEvent(path: string | null): Promise<z.infer<typeof Event>> {
  if (path === null) return {};
  // Of no event that we know: nothing is lost but the number of a pull request.
  const text = await readFile(path, 'utf8').catch(() => '{}');
  const event = Event.safeParse(parse(text));
  return event.success ? event.data : {};
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
