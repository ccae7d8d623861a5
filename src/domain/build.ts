import { z } from 'zod';

/** The part that is all of a build. */
export const WHOLE_BUILD = 'whole';

/** Each CI system that sends webhooks, with its name for people and whether it hosts code. */
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

/** The CI systems that host code. The URLs of their builds lie below the URL of the repository. */
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
  /** Build number within the pipeline, as its CI shows it. */
  number: z.string(),
  /** 1-based; GitHub's run_attempt. */
  attempt: z.int().min(1),
  /** The provider's own id of the run (GitHub run id, Jenkins full URL). Null if there is none. */
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

/** Stands for the number of a run until an event names its own; no CI's own number looks like it. */
export function createProvisionalNumber(runId: number | string): string {
  return `run ${runId}`;
}

/** A build before it is stored: no id and no time of receipt yet. */
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

/** The name of a build's console output among its logs, used if the CI keeps one log for the whole build. */
export const CONSOLE_LOG = 'console.log';

/** A picture of a build, as it was drawn again: its pixels, and nothing else that its file held. */
export interface Picture {
  /** The bytes of the PNG file. */
  readonly png: Uint8Array;
  /** The size in pixels. */
  readonly width: number;
  readonly height: number;
}

/** A log or test report as it came in: named, decompressed, not yet masked. */
export interface SourceText {
  readonly name: string;
  readonly kind: SourceKind;
  readonly text: string;
  /** Honest remarks about reading it: "cut at 200 MB", "14 invalid UTF-8 sequences". */
  readonly notes: readonly string[];
  /** The picture that the file is; its text is empty. */
  readonly picture?: Picture;
  /** The page of its job at its CI; `{line}` in it stands for a line where the page can be opened at one. */
  readonly url?: string;
}

/** One test case's outcome, from a report or a log; kept for passing builds too. */
export const TestResult = z.object({
  name: z.string(),
  suite: z.string().nullable(),
  file: z.string().nullable(),
  status: z.enum(['passed', 'failed', 'skipped']),
  /** Duration in milliseconds. */
  durationMs: z.number().nullable(),
  /** The machine that ran it, if the report names it. */
  runner: z.string().optional(),
});
export type TestResult = z.infer<typeof TestResult>;

/**
 * The content of a green log as templates, stored instead of the log itself; a plain value that survives JSON
 * unchanged. A template is a clean, normalized line in which changing words are replaced by `<*>`. All
 * content is masked.
 */
export const Templates = z.object({
  /** Templates of another version are not understood. */
  version: z.literal(1),
  lines: z.array(z.string()),
});
export type Templates = z.infer<typeof Templates>;

/** A passed build that a failed one was compared with. */
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
