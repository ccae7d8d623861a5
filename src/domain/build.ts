import { z } from 'zod';

/** The name of the part that represents the whole build. */
export const WHOLE_BUILD = 'whole';

/** The CI systems that send webhooks, each with its display name and whether it hosts code. */
export const CI_SYSTEMS = {
  github: { label: 'GitHub', hostsCode: true },
  gitea: { label: 'Gitea', hostsCode: true },
  gitlab: { label: 'GitLab', hostsCode: true },
  jenkins: { label: 'Jenkins', hostsCode: false },
  buildkite: { label: 'Buildkite', hostsCode: false },
  circleci: { label: 'CircleCI', hostsCode: false },
  azure: { label: 'Azure Pipelines', hostsCode: false },
} as const satisfies Record<string, { readonly label: string; readonly hostsCode: boolean }>;
export type CiSystem = keyof typeof CI_SYSTEMS;

export const CI_SYSTEM_NAMES: readonly CiSystem[] = Object.keys(CI_SYSTEMS).filter(isCiSystem);

/** The CI systems that host code. The URLs of their builds are below the URL of the repository. */
export type CodeHostName = {
  [Name in CiSystem]: (typeof CI_SYSTEMS)[Name]['hostsCode'] extends true ? Name : never;
}[CiSystem];
export const CODE_HOSTS: readonly CodeHostName[] = CI_SYSTEM_NAMES.filter(isCodeHost);

/** The source of a build: a CI system, or an upload. */
export const Provider = z.enum([...CI_SYSTEM_NAMES, 'upload']);
export type Provider = z.infer<typeof Provider>;

function isCiSystem(name: string): name is CiSystem {
  return Object.hasOwn(CI_SYSTEMS, name);
}

/** Returns true if a build of the provider has a repository at the same host. */
export function isCodeHost(provider: Provider): provider is CodeHostName {
  return provider !== 'upload' && CI_SYSTEMS[provider].hostsCode;
}

/** Names the CI systems that host code, for a sentence: "GitHub, Gitea, or GitLab". */
export function nameCodeHosts(name = (host: CodeHostName): string => CI_SYSTEMS[host].label): string {
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(CODE_HOSTS.map(name));
}

export const BuildStatus = z.enum(['failed', 'passed', 'cancelled', 'unknown']);
export type BuildStatus = z.infer<typeof BuildStatus>;

/** One run of a CI pipeline. `(provider, repository, pipeline, number, attempt)` is unique. */
export const Build = z.object({
  id: z.string(),
  provider: Provider,
  /** `owner/name` on GitHub, the job's source repository or name on Jenkins. */
  repository: z.string(),
  /** The workflow name, the Jenkins job name, or the name given by the uploader. */
  pipeline: z.string(),
  /** The build number within the pipeline, as its CI shows it. */
  number: z.string(),
  /** The attempt, from 1 on, which is GitHub's run_attempt. */
  attempt: z.int().min(1),
  /** The provider's own id of the run (GitHub's run id, Jenkins' full URL). Null if there is none. */
  externalId: z.string().nullable(),
  /** The name of the failed job within the run. Null if the event named none. */
  job: z.string().nullable(),
  branch: z.string().nullable(),
  commit: z.string().nullable(),
  author: z.string().nullable(),
  pullRequest: z.int().nullable(),
  url: z.string().nullable(),
  status: BuildStatus,
  /**
   * Seconds that the build, or its first failed job, waited before it started; null or absent if not
   * reported.
   */
  queuedSeconds: z.number().min(0).nullish(),
  startedAt: z.iso.datetime().nullable(),
  finishedAt: z.iso.datetime().nullable(),
  receivedAt: z.iso.datetime(),
});
export type Build = z.infer<typeof Build>;

/** Creates a number for a run until an event brings its real number. No CI's own number has this form. */
export function createProvisionalNumber(runId: number | string): string {
  return `run ${runId}`;
}

/** A build before it is stored, without an id and a time of receipt. */
export const NewBuild = Build.omit({ id: true, receivedAt: true });
export type NewBuild = z.infer<typeof NewBuild>;

/**
 * Creates a failed build from few known fields, such as for a log that was read in a terminal. Fields that
 * are not given get defaults.
 */
export function createSparseBuild(
  known: Pick<NewBuild, 'repository' | 'pipeline' | 'number'> & Partial<NewBuild>,
): NewBuild {
  return {
    provider: 'upload',
    attempt: 1,
    externalId: null,
    job: null,
    branch: null,
    commit: null,
    author: null,
    pullRequest: null,
    url: null,
    status: 'failed',
    startedAt: null,
    finishedAt: null,
    ...known,
  };
}

/**
 * The kinds of stored text of a build. An artifact is a file in addition to the logs and reports; it is read
 * as a log if the survey chose it. A binary artifact has an empty text, and notes that describe it.
 */
export const SourceKind = z.enum(['log', 'report', 'artifact']);
export type SourceKind = z.infer<typeof SourceKind>;

/** The name of a build's console output among its logs, if the CI keeps one log for the whole build. */
export const CONSOLE_LOG = 'console.log';

/** An image of a build that was drawn again: only its pixels, and nothing else that its file contained. */
export interface Picture {
  /** The bytes of the PNG file. */
  readonly png: Uint8Array;
  /** The size in pixels. */
  readonly width: number;
  readonly height: number;
}

/** A log or test report as it was received: named and decompressed, but not yet masked. */
export interface SourceText {
  readonly name: string;
  readonly kind: SourceKind;
  readonly text: string;
  /** Notes on how it was read: "cut at 200 MB", "14 invalid UTF-8 sequences". */
  readonly notes: readonly string[];
  /** The image, if the file is one. The text is empty then. */
  readonly picture?: Picture;
  /**
   * The URL of the page of its job at its CI. `{line}` in it stands for a line, if the page can be opened at
   * one.
   */
  readonly url?: string;
}

/** The outcome of one test case, from a report or a log. It is also stored for passing builds. */
export const TestResult = z.object({
  name: z.string(),
  suite: z.string().nullable(),
  file: z.string().nullable(),
  status: z.enum(['passed', 'failed', 'skipped']),
  /** The duration in milliseconds. */
  durationMs: z.number().nullable(),
  /** The machine that ran the test, if the report names it. */
  runner: z.string().optional(),
});
export type TestResult = z.infer<typeof TestResult>;

/**
 * The content of a green log as templates, stored instead of the log itself; a plain value that survives JSON
 * unchanged. A template is a clean, normalized line in which changing words are replaced by `<*>`. All
 * content is masked.
 */
export const Templates = z.object({
  /** The version of the format. Templates of another version are ignored. */
  version: z.literal(1),
  lines: z.array(z.string()),
});
export type Templates = z.infer<typeof Templates>;

/** A passed build with which a failed one was compared. */
export const GreenBuild = z.object({
  buildId: z.string(),
  /** The build number, as its CI shows it. */
  number: z.string(),
  url: z.string().nullable(),
});
export type GreenBuild = z.infer<typeof GreenBuild>;

/** Returns the short form of a commit as it is shown everywhere: its first seven characters. */
export function shortenCommit(commit: string): string {
  return commit.slice(0, 7);
}
