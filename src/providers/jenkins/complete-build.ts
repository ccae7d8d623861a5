import { z } from 'zod';
import type { NewBuild } from '../../domain/build.ts';
import { createShortTextSchema, decodeSegment, findRepositoryOfClone, toUtc } from '../read-input.ts';
import { checkJenkinsAddress, type JenkinsAccess, READ_JOB, readJenkins } from './client.ts';

const TREE = 'timestamp,duration,actions[remoteUrls,lastBuiltRevision[SHA1,branch[name]]]';
const MAX_BYTES = 4 * 1024 * 1024;

/** A build at Jenkins. Of its actions, those of the Git plugin say what was checked out. */
const JenkinsBuild = z.object({
  timestamp: z.number().nullish(),
  duration: z.number().nullish(),
  actions: z
    .array(
      z.object({
        remoteUrls: z.array(z.string()).nullish(),
        lastBuiltRevision: z
          .object({ SHA1: z.string().nullish(), branch: z.array(z.object({ name: z.string() })).default([]) })
          .nullish(),
      }),
    )
    .default([]),
});
type JenkinsBuild = z.infer<typeof JenkinsBuild>;

const Folder = z.object({ _class: z.string().default('') });

interface Checkout {
  readonly repository: string | null;
  readonly branch: string | null;
  readonly commit: string | null;
}

/**
 * Adds the times, the repository, the branch and the commit of a build as Jenkins knows them. The
 * Notification plugin sends no source control for Pipeline and multibranch jobs, and the end of the build
 * instead of its start. Known fields of source control stay. Throws as `BuildSource.fetch` does.
 */
export async function completeJenkinsBuild(
  access: JenkinsAccess,
  build: NewBuild,
  signal: AbortSignal,
): Promise<NewBuild> {
  const address = checkJenkinsAddress(access.baseUrl, build);
  const read = async (path: string, what: string) =>
    JSON.parse(
      (
        await readJenkins(access, new URL(path, address), {
          what,
          right: READ_JOB,
          maxBytes: MAX_BYTES,
          signal,
        })
      ).toString('utf8'),
    );
  const found = JenkinsBuild.parse(await read(`api/json?tree=${encodeURIComponent(TREE)}`, 'a build'));
  const isInFolder = (address.pathname.match(/\/job\//g)?.length ?? 0) > 1;
  const isOfBranch =
    isInFolder &&
    Folder.parse(await read('../../../api/json?tree=_class', 'the folder of a job'))._class.endsWith(
      'MultiBranchProject',
    );
  // The name of such a job is its branch, encoded once more than other names.
  const branch = isOfBranch ? decodeSegment(build.pipeline.split('/').at(-1) ?? '') : null;
  const checkout = findCheckout(found, branch);
  const isNamedByJob = build.repository === build.pipeline;
  const { timestamp, duration } = found;
  return {
    ...build,
    repository: isNamedByJob ? (checkout?.repository ?? build.repository) : build.repository,
    branch: build.branch ?? branch ?? checkout?.branch ?? null,
    commit: build.commit ?? checkout?.commit ?? null,
    startedAt: toUtc(timestamp) ?? build.startedAt,
    finishedAt: timestamp && duration ? toUtc(timestamp + duration) : build.finishedAt,
  };
}

/**
 * Finds what was checked out. A build has a checkout of each shared library as well. The one of the job is
 * the one of its branch; if the job has no branch, it is the only one there is. Returns null if that does not
 * decide.
 */
function findCheckout({ actions }: JenkinsBuild, branch: string | null): Checkout | null {
  const checkouts = actions.flatMap(({ remoteUrls, lastBuiltRevision }): Checkout[] => {
    if (lastBuiltRevision == null) return [];
    const { SHA1 = null, branch: names } = lastBuiltRevision;
    return [
      {
        repository: toText(findRepositoryOfClone(remoteUrls?.[0])),
        branch: toText(toLocalBranch(names[0]?.name)),
        commit: toText(SHA1),
      },
    ];
  });
  const candidates = branch === null ? checkouts : checkouts.filter((checkout) => checkout.branch === branch);
  const repositories = new Set(candidates.map(({ repository }) => repository));
  return repositories.size === 1 ? (candidates[0] ?? null) : null;
}

/** Returns a branch without its remote; null if the commit was checked out without a branch. */
function toLocalBranch(name: string | undefined): string | null {
  if (name === undefined || name === 'detached') return null;
  return name.replace(/^refs\/(?:remotes\/[^/]+|heads)\//, '').replace(/^origin\//, '');
}

const Text = createShortTextSchema();

function toText(text: string | null): string | null {
  return Text.safeParse(text).data ?? null;
}
