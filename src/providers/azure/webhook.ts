import { z } from 'zod';
import { type BuildStatus, WHOLE_BUILD } from '../../domain/build.ts';
import { readInput } from '../../domain/errors.ts';
import {
  createShortTextSchema,
  createWebUrlSchema,
  decodeSegment,
  findSecondsBetween,
  pullRequestNumber,
  toTextOrNull,
  toUtc,
} from '../read-input.ts';
import {
  createRefusedError,
  createWebhook,
  ignoreUndecided,
  matchesAny,
  type Received,
  readBasicPassword,
  type WebhookContent,
  type WebhookRequest,
} from '../webhook.ts';

const SECRET = 'FAULTLINE_AZURE_WEBHOOK_SECRET';
const text = z.string().nullish();
const Person = z.object({ displayName: text });

/**
 * The fields of `build.complete` that we use. Version 1.0 of the resource has the result in `status` and the
 * commit in `sourceGetVersion`.
 */
const BuildComplete = z
  .object({
    id: createShortTextSchema(200),
    eventType: z.literal('build.complete'),
    resource: z.object({
      id: z.int().positive(),
      buildNumber: createShortTextSchema(200),
      url: createWebUrlSchema().describe('Address in the API; it names the project.'),
      status: text,
      result: text,
      definition: z.object({ name: createShortTextSchema(300) }),
      project: z.object({ name: createShortTextSchema(300) }).nullish(),
      repository: z.object({ name: text }).nullish(),
      sourceBranch: text,
      sourceVersion: text,
      sourceGetVersion: text.describe('`LG:refs/heads/main:600c52d2…`'),
      triggerInfo: z.object({ 'pr.number': text, 'pr.isFork': text, 'pr.sourceBranch': text }).nullish(),
      requestedFor: Person.nullish(),
      requests: z.array(z.object({ requestedFor: Person.nullish() })).nullish(),
      queueTime: text,
      startTime: text,
      finishTime: text,
    }),
  })
  .meta({
    title: 'build.complete',
    examples: [
      {
        id: '4a5d99d6-1c75-4e53-91b9-ee80057d4ce3',
        eventType: 'build.complete',
        resource: {
          id: 812,
          buildNumber: '20260301.4',
          url: 'https://dev.azure.com/acme/71777fbc-1cf2-4bd1-9540-128c1c71f766/_apis/build/Builds/812',
          status: 'completed',
          result: 'failed',
          definition: { name: 'ci' },
          project: { name: 'shop' },
          repository: { name: 'api' },
          sourceBranch: 'refs/heads/main',
          sourceVersion: 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b',
          finishTime: '2026-03-01T11:00:00Z',
        },
      },
    ],
  });
type BuildComplete = z.infer<typeof BuildComplete>;

const Head = z.object({ eventType: createShortTextSchema(200) });

function authenticate(request: WebhookRequest, secrets: readonly string[]): void {
  const given = request.header('x-faultline-token') ?? readBasicPassword(request);
  if (given === undefined)
    throw createRefusedError(
      'The delivery contains no secret: set a basic authentication password, or the header ' +
        'X-Faultline-Token, for the service hook.',
    );
  if (!matchesAny(given, secrets))
    throw createRefusedError(`The password or token does not match any configured secret (${SECRET}).`);
}

/**
 * The webhook `POST /webhooks/azure`. The secret is the password of basic authentication, or the header
 * `X-Faultline-Token`.
 */
export const azureWebhook = createWebhook({
  name: 'azure',
  label: 'Azure DevOps',
  setting: SECRET,
  summary: 'Azure DevOps service hook',
  description:
    'Subscribe it to "Build completed" and send all resource details. ' +
    'Failed and partially succeeded builds are fetched and triaged, passed ones are stored for ' +
    'history, and everything else is acknowledged and ignored with a reason. ' +
    'If jobs of a build are re-run, the build counts as a new attempt when it ends.',
  headers: z.object({}),
  body: BuildComplete,
  security: {
    azurePassword: {
      in: 'header',
      name: 'Authorization',
      description: 'Basic authentication: any user, and the secret as the password.',
    },
    azureToken: {
      in: 'header',
      name: 'X-Faultline-Token',
      description: 'The secret itself, as a header of the service hook.',
    },
  },
  authenticate,
  read: readAzureEvent,
});

/**
 * Reads an event whose sender is authenticated. Throws `invalid-input` if a required field is missing.
 */
export function readAzureEvent(payload: unknown): Received {
  const { eventType } = readInput('The Azure DevOps event', Head, payload);
  if (eventType !== 'build.complete') {
    const ignored = `${eventType} events do not say how a build ended; only build.complete does`;
    return { event: eventType, deliveryId: null, reading: { ignored } };
  }
  const event = readInput('The build.complete event', BuildComplete, payload);
  return { event: eventType, deliveryId: event.id, reading: readBuild(event) };
}

function readBuild({ resource }: BuildComplete): WebhookContent {
  const result = resource.result ?? resource.status ?? 'nothing';
  const status = toBuildStatus(result);
  if (status === null) return ignoreUndecided('build', result);
  const [, organizationUrl, encodedProject] =
    /^(.*?)\/([^/]+)\/_apis\/build\/builds\/\d+$/i.exec(resource.url) ?? [];
  if (organizationUrl === undefined || encodedProject === undefined)
    return { ignored: 'resource.url does not name the project, as in …/PROJECT/_apis/build/Builds/1' };
  const project = decodeSegment(encodedProject);
  const { triggerInfo: trigger } = resource;
  const { ref, commit } = readVersion(resource);
  const fromFork = /^true$/i.test(trigger?.['pr.isFork'] ?? '');
  const pullRequest = Number(trigger?.['pr.number'] ?? /^refs\/pull\/(\d{1,9})\//.exec(ref)?.[1]);
  const finishedAt = toUtc(resource.finishTime);
  return {
    part: WHOLE_BUILD,
    attemptAt: finishedAt,
    fromFork,
    build: {
      provider: 'azure',
      repository: getRepositoryName(resource, project),
      pipeline: resource.definition.name,
      number: resource.buildNumber,
      // Azure does not count attempts. A later `attemptAt` is a new one.
      attempt: 1,
      externalId: `${project}/${resource.id}`,
      job: null,
      // A fork's branch may have the same name as one of the repository.
      branch: fromFork ? null : toTextOrNull(readBranch(trigger?.['pr.sourceBranch'], ref)),
      commit: toTextOrNull(commit),
      author: toTextOrNull((resource.requestedFor ?? resource.requests?.[0]?.requestedFor)?.displayName),
      pullRequest: pullRequestNumber().safeParse(pullRequest).data ?? null,
      url: `${organizationUrl}/${encodedProject}/_build/results?buildId=${resource.id}`,
      status,
      queuedSeconds: findSecondsBetween(resource.queueTime, resource.startTime),
      startedAt: toUtc(resource.startTime),
      finishedAt,
    },
  };
}

/** Reads the ref and the commit that were built. Version 1.0 has both in one text, `LG:REF:COMMIT`. */
function readVersion({ sourceBranch, sourceVersion, sourceGetVersion }: BuildComplete['resource']) {
  const text = sourceGetVersion ?? '';
  return {
    ref: sourceBranch ?? /^LG:(.*):/.exec(text)?.[1] ?? '',
    commit: sourceVersion ?? /:([0-9a-f]{40})$/.exec(text)?.[1],
  };
}

/** Returns the name of the branch that was built, or of the pull request's own branch. */
function readBranch(source: string | null | undefined, ref: string): string | null | undefined {
  return /^refs\/heads\/(.+)/.exec(source ?? ref)?.[1] ?? source;
}

/**
 * Returns the repository's name if it contains an owner (GitHub), otherwise `PROJECT/NAME`, or the project
 * alone if the event names no repository.
 */
function getRepositoryName({ repository, project }: BuildComplete['resource'], projectId: string): string {
  const name = toTextOrNull(repository?.name);
  if (name?.includes('/') === true) return name;
  const owner = project?.name ?? projectId;
  return name === null ? owner : `${owner}/${name}`;
}

function toBuildStatus(result: string): BuildStatus | null {
  if (/^succeeded$/i.test(result)) return 'passed';
  return /^(?:failed|partiallySucceeded)$/i.test(result) ? 'failed' : null;
}
