import { z } from 'zod';
import { type BuildStatus, WHOLE_BUILD } from '../../domain/build.ts';
import { readInput } from '../../domain/errors.ts';
import {
  createShortTextSchema,
  createWebUrlSchema,
  findRepositoryOfClone,
  findSecondsBetween,
  pullRequestNumber,
  toTextOrNull,
  toUtc,
} from '../read-input.ts';
import {
  computeHmac,
  createRefusedError,
  createWebhook,
  ignoreUndecided,
  matchesAny,
  readRequiredHeader,
  requireRecent,
  type WebhookContent,
  type WebhookRequest,
} from '../webhook.ts';

const SECRET = 'FAULTLINE_BUILDKITE_WEBHOOK_SECRET';

/** The fields of `build.finished` that we use. */
const BuildFinished = z
  .object({
    build: z.object({
      url: createWebUrlSchema().describe('Address in the API; it names organization, pipeline and build.'),
      web_url: createWebUrlSchema().nullish(),
      number: z.int().positive(),
      state: z.string(),
      blocked: z.boolean().nullish(),
      commit: z.string().nullish(),
      branch: z.string().nullish(),
      tag: z.string().nullish(),
      creator: z.object({ name: z.string().nullish() }).nullish(),
      pull_request: z
        .object({ id: z.union([z.string(), z.int()]).nullish(), repository: z.string().nullish() })
        .nullish(),
      scheduled_at: z.string().nullish(),
      started_at: z.string().nullish(),
      finished_at: z.string().nullish(),
    }),
    pipeline: z.object({
      slug: createShortTextSchema(300),
      repository: z.string().nullish().describe('The URL from which it is cloned.'),
      default_branch: createShortTextSchema(300).nullish().catch(null),
    }),
  })
  .meta({
    title: 'build.finished',
    examples: [
      {
        build: {
          url: 'https://api.buildkite.com/v2/organizations/acme/pipelines/api/builds/812',
          web_url: 'https://buildkite.com/acme/api/builds/812',
          number: 812,
          state: 'failed',
          commit: 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b',
          branch: 'main',
          finished_at: '2026-03-01 11:00:00 UTC',
        },
        pipeline: { slug: 'api', repository: 'git@github.com:shop/api.git', default_branch: 'main' },
      },
    ],
  });
type BuildFinished = z.infer<typeof BuildFinished>;

function authenticate(request: WebhookRequest, secrets: readonly string[], nowMs: number): void {
  const token = request.header('x-buildkite-token');
  if (token !== undefined) {
    if (!matchesAny(token, secrets))
      throw createRefusedError(`X-Buildkite-Token does not match any configured secret (${SECRET}).`);
    return;
  }
  const [, timestamp, signature] =
    /^timestamp=(\d{1,12}),signature=([0-9a-f]{64})$/.exec(request.header('x-buildkite-signature') ?? '') ??
    [];
  if (timestamp === undefined || signature === undefined)
    throw createRefusedError(
      'The delivery contains no secret: X-Buildkite-Signature (timestamp=…,signature=…) or ' +
        'X-Buildkite-Token is missing.',
    );
  const expected = secrets.map((secret) => computeHmac(secret, `${timestamp}.`, request.body));
  if (!matchesAny(signature, expected))
    throw createRefusedError(`X-Buildkite-Signature does not match any configured secret (${SECRET}).`);
  requireRecent("X-Buildkite-Signature's timestamp", timestamp, nowMs);
}

/** The webhook `POST /webhooks/buildkite`, with a signature or the token itself. */
export const buildkiteWebhook = createWebhook({
  name: 'buildkite',
  label: 'Buildkite',
  setting: SECRET,
  summary: 'Buildkite webhook',
  description:
    'Subscribe it to "build.finished". Failed builds are fetched and triaged, passed ones are stored ' +
    'for history, and everything else is acknowledged and ignored with a reason. ' +
    'A build that ends again, after jobs were retried, counts as another attempt.',
  headers: z.object({
    'x-buildkite-event': z.string().describe('build.finished; others are acknowledged and ignored.'),
    'x-buildkite-request': z
      .string()
      .optional()
      .describe('Delivery ID. A second delivery with the same ID has no effect.'),
  }),
  body: BuildFinished,
  security: {
    buildkiteSignature: {
      in: 'header',
      name: 'X-Buildkite-Signature',
      description: '`timestamp=…,signature=…`: the HMAC-SHA256 of `<timestamp>.<raw body>`, in hexadecimal.',
    },
    buildkiteToken: { in: 'header', name: 'X-Buildkite-Token', description: 'The token itself.' },
  },
  authenticate,
  read: (payload, request) => {
    const event = readRequiredHeader(request, 'X-Buildkite-Event');
    return {
      event,
      deliveryId: toTextOrNull(request.header('x-buildkite-request')),
      reading: readBuildkiteEvent(event, payload),
    };
  },
});

/**
 * Reads an event whose sender is authenticated. Throws `invalid-input` if a known event lacks a required
 * field.
 */
export function readBuildkiteEvent(event: string, payload: unknown): WebhookContent {
  if (event !== 'build.finished')
    return { ignored: `${event} events do not say how a build ended; only build.finished does` };
  return readBuild(readInput('The build.finished event', BuildFinished, payload));
}

function readBuild({ build, pipeline }: BuildFinished): WebhookContent {
  const status = toBuildStatus(build.state);
  if (status === null) return ignoreUndecided('build', build.state);
  if (status === 'passed' && build.blocked === true) return { ignored: 'the build waits to be unblocked' };
  const [, organization, slug] =
    /\/organizations\/([^/]+)\/pipelines\/([^/]+)\/builds\/\d+$/.exec(build.url) ?? [];
  if (organization === undefined || slug === undefined)
    return {
      ignored:
        'build.url does not name organization, pipeline and build, as in ' +
        '…/organizations/ORG/pipelines/PIPELINE/builds/1',
    };
  const repository = findRepositoryOfClone(pipeline.repository);
  const origin = findRepositoryOfClone(build.pull_request?.repository);
  const fromFork = origin !== null && origin !== repository;
  const number = Number(build.pull_request?.id);
  const finishedAt = toUtc(build.finished_at);
  return {
    part: WHOLE_BUILD,
    attemptAt: finishedAt,
    fromFork,
    defaultBranch: pipeline.default_branch ?? null,
    build: {
      provider: 'buildkite',
      repository: toTextOrNull(repository) ?? `${organization}/${slug}`,
      pipeline: pipeline.slug,
      number: String(build.number),
      attempt: 1,
      externalId: `${organization}/${slug}/${build.number}`,
      job: null,
      // A branch of a fork may have the name of a branch of the repository.
      branch: fromFork || (build.tag ?? '') !== '' ? null : toTextOrNull(build.branch),
      commit: /^[0-9a-f]{7,64}$/.test(build.commit ?? '') ? (build.commit ?? null) : null,
      author: toTextOrNull(build.creator?.name),
      pullRequest: pullRequestNumber().safeParse(number).data ?? null,
      url: build.web_url ?? null,
      status,
      queuedSeconds: findSecondsBetween(build.scheduled_at, build.started_at),
      startedAt: toUtc(build.started_at),
      finishedAt,
    },
  };
}

function toBuildStatus(state: string): BuildStatus | null {
  if (state === 'failed' || state === 'passed') return state;
  return null;
}
