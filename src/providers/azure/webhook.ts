import { z } from 'zod';
import { type BuildStatus, WHOLE_BUILD } from '../../domain/build.ts';
import { readInput } from '../../domain/errors.ts';
import {
  decodedSegment,
  pullRequestNumber,
  secondsBetween,
  shortText,
  textOrNull,
  toUtc,
  webAddress,
} from '../read-input.ts';
import {
  createWebhook,
  matchesAny,
  neither,
  type Reading,
  type Received,
  readBasicPassword,
  refused,
  type WebhookRequest,
} from '../webhook.ts';

const SECRET = 'FAULTLINE_AZURE_WEBHOOK_SECRET';
const text = z.string().nullish();
const Person = z.object({ displayName: text });

/**
 * The fields of `build.complete` that we use. Version 1.0 of the resource calls its result the status, and
 * names the commit elsewhere.
 */
const BuildComplete = z
  .object({
    id: shortText(200),
    eventType: z.literal('build.complete'),
    resource: z.object({
      id: z.int().positive(),
      buildNumber: shortText(200),
      url: webAddress().describe('Address in the API; it names the project.'),
      status: text,
      result: text,
      definition: z.object({ name: shortText(300) }),
      project: z.object({ name: shortText(300) }).nullish(),
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

const Head = z.object({ eventType: shortText(200) });

function authenticate(request: WebhookRequest, secrets: readonly string[]): void {
  const given = request.header('x-faultline-token') ?? readBasicPassword(request);
  if (given === undefined)
    throw refused(
      'The delivery contains no secret: set a basic authentication password, or the header ' +
        'X-Faultline-Token, for the service hook.',
    );
  if (!matchesAny(given, secrets))
    throw refused(`The password or token does not match any configured secret (${SECRET}).`);
}

/**
 * `POST /webhooks/azure`: with the secret as the password of basic authentication, or in a header of its own.
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
    'A build of which jobs are run again counts as another attempt once it ends.',
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
 * Reads an event whose sender is known. Throws `invalid-input` where a known event lacks what it must have.
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

function readBuild({ resource }: BuildComplete): Reading {
  const said = resource.result ?? resource.status ?? 'nothing';
  const status = toBuildStatus(said);
  if (status === null) return neither('build', said);
  const [, site, encoded] = /^(.*?)\/([^/]+)\/_apis\/build\/builds\/\d+$/i.exec(resource.url) ?? [];
  if (site === undefined || encoded === undefined)
    return { ignored: 'resource.url does not name the project, as in …/PROJECT/_apis/build/Builds/1' };
  const project = decodedSegment(encoded);
  const { triggerInfo: trigger } = resource;
  const ref = resource.sourceBranch ?? /^LG:(.*):/.exec(resource.sourceGetVersion ?? '')?.[1] ?? '';
  const fromFork = /^true$/i.test(trigger?.['pr.isFork'] ?? '');
  const branch =
    /^refs\/heads\/(.+)/.exec(trigger?.['pr.sourceBranch'] ?? ref)?.[1] ?? trigger?.['pr.sourceBranch'];
  const number = Number(trigger?.['pr.number'] ?? /^refs\/pull\/(\d{1,9})\//.exec(ref)?.[1]);
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
      attempt: 1,
      externalId: `${project}/${resource.id}`,
      job: null,
      // A fork's branch may bear the name of one of ours.
      branch: fromFork ? null : textOrNull(branch),
      commit: textOrNull(
        resource.sourceVersion ?? /:([0-9a-f]{40})$/.exec(resource.sourceGetVersion ?? '')?.[1],
      ),
      author: textOrNull((resource.requestedFor ?? resource.requests?.[0]?.requestedFor)?.displayName),
      pullRequest: pullRequestNumber().safeParse(number).data ?? null,
      url: `${site}/${encoded}/_build/results?buildId=${resource.id}`,
      status,
      queuedSeconds: secondsBetween(resource.queueTime, resource.startTime),
      startedAt: toUtc(resource.startTime),
      finishedAt,
    },
  };
}

/** Returns `owner/name` for code on GitHub. Code in Azure Repos has a name within its project. */
function getRepositoryName({ repository, project }: BuildComplete['resource'], projectId: string): string {
  const name = textOrNull(repository?.name);
  if (name?.includes('/') === true) return name;
  const owner = project?.name ?? projectId;
  return name === null ? owner : `${owner}/${name}`;
}

function toBuildStatus(result: string): BuildStatus | null {
  if (result === 'succeeded') return 'passed';
  return /^(?:failed|partiallySucceeded)$/i.test(result) ? 'failed' : null;
}
