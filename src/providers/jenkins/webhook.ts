import { z } from 'zod';
import { type BuildStatus, createSparseBuild, type TestResult } from '../../domain/build.ts';
import { readInput } from '../../domain/errors.ts';
import { omitUndefined } from '../../lib/collections.ts';
import {
  attemptNumber,
  createShortTextSchema,
  createWebUrlSchema,
  decodeSegment,
  findRepositoryOfClone,
  findSecondsBetween,
  pullRequestNumber,
  toShown,
  toUtc,
} from '../read-input.ts';
import {
  computeHmac,
  createRefusedError,
  createWebhook,
  matchesAny,
  readBasicPassword,
  requireRecent,
  type WebhookContent,
  type WebhookRequest,
} from '../webhook.ts';

const SECRET = 'FAULTLINE_JENKINS_WEBHOOK_SECRET';

const Query = z.object({ token: z.string().optional() });

function authenticate(request: WebhookRequest, secrets: readonly string[], nowMs: number): void {
  const query = Query.safeParse(request.query);
  const token =
    request.header('x-faultline-token') ??
    readBasicPassword(request) ??
    (query.success ? query.data.token : undefined);
  const signature = request.header('x-faultline-signature');
  if (signature !== undefined || token === undefined) checkSigned(request, signature, secrets, nowMs);
  else if (!matchesAny(token, secrets))
    throw createRefusedError(`The token does not match any configured secret (${SECRET}).`);
}

/**
 * Checks the signature: `sha256=` and the HMAC-SHA256 over `<id>.<timestamp>.<raw body>` in hexadecimal, as
 * in Standard Webhooks.
 */
function checkSigned(
  request: WebhookRequest,
  signature: string | undefined,
  secrets: readonly string[],
  nowMs: number,
): void {
  const id = request.header('x-faultline-id');
  const timestamp = request.header('x-faultline-timestamp');
  if (id === undefined || timestamp === undefined || signature === undefined)
    throw createRefusedError(
      'A signed delivery needs the headers X-Faultline-Id, X-Faultline-Timestamp and X-Faultline-Signature.',
    );
  if (id.length > 200 || !/^\d{1,12}$/.test(timestamp))
    throw createRefusedError(
      'X-Faultline-Timestamp must be Unix time in seconds, and X-Faultline-Id at most 200 characters.',
    );
  const expected = secrets.map(
    (secret) => `sha256=${computeHmac(secret, `${id}.${timestamp}.`, request.body)}`,
  );
  if (!matchesAny(signature, expected))
    throw createRefusedError(
      'X-Faultline-Signature does not match the body, ID and timestamp with any configured secret.',
    );
  requireRecent('X-Faultline-Timestamp', timestamp, nowMs);
}

/** A build of more failing tests fails for a cause that a few of them show. */
const MAX_TESTS = 1_000;

const optionalText = createShortTextSchema().nullish();

/** The fields of the Notification plugin's event that we use. */
export const NotificationEvent = z
  .object({
    name: createShortTextSchema(500),
    url: z.string().nullish().describe('Path of the job: `job/folder/job/name/`.'),
    build: z.object({
      full_url: createWebUrlSchema().nullish(),
      number: z.int().positive(),
      phase: createShortTextSchema(100),
      status: optionalText,
      timestamp: z.number().nullish().describe('Milliseconds since the Unix epoch.'),
      duration: z.number().nullish().describe('Milliseconds.'),
      scm: z.object({ url: optionalText, branch: optionalText, commit: optionalText }).nullish(),
      log: z
        .string()
        .nullish()
        .describe(
          'The end of the console, if the plugin is configured to send it; ' +
            'used if the console itself cannot be read.',
        ),
      test_summary: z
        .object({
          failed_tests: z
            .array(z.string())
            .nullish()
            .describe('Their classes and names, such as `shop.CartTest.total`.'),
        })
        .nullish(),
    }),
  })
  .meta({
    title: 'Notification plugin',
    examples: [
      {
        name: 'shop-api',
        url: 'job/shop-api/',
        build: {
          full_url: 'https://ci.example.com/job/shop-api/812/',
          number: 812,
          phase: 'FINALIZED',
          status: 'FAILURE',
          scm: {
            url: 'https://git.example.com/shop/api.git',
            branch: 'origin/main',
            commit: 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b',
          },
        },
      },
    ],
  });
type NotificationEvent = z.infer<typeof NotificationEvent>;

/** Our own shape, for any CI that can post JSON. */
export const GenericEvent = z
  .object({
    repository: createShortTextSchema(300).describe('`owner/name`, or another name for the source.'),
    pipeline: createShortTextSchema(500),
    number: z.union([createShortTextSchema(100), z.int().min(0)]).describe('As shown by the CI system.'),
    status: z.string().describe('`failure`, `unstable`, `success`, `aborted`; also `failed`, `passed`.'),
    attempt: attemptNumber(),
    url: createWebUrlSchema().nullish().describe('URL of the build; logs are fetched under it.'),
    job: optionalText,
    branch: optionalText,
    commit: optionalText,
    author: optionalText,
    pullRequest: pullRequestNumber().nullish(),
    queuedAt: z.iso.datetime({ offset: true }).nullish().describe('When it began to wait.'),
    startedAt: z.iso.datetime({ offset: true }).nullish(),
    finishedAt: z.iso.datetime({ offset: true }).nullish(),
  })
  .meta({
    title: 'Generic build event',
    examples: [
      {
        repository: 'shop/api',
        pipeline: 'shop-api',
        number: 812,
        status: 'failure',
        url: 'https://ci.example.com/job/shop-api/812/',
        branch: 'main',
        commit: 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b',
      },
    ],
  });
type GenericEvent = z.infer<typeof GenericEvent>;

/** `POST /webhooks/jenkins`: the Notification plugin's shape or the generic one, signed or with a token. */
export const jenkinsWebhook = createWebhook({
  name: 'jenkins',
  label: 'Jenkins',
  setting: SECRET,
  summary: 'Jenkins and generic webhook',
  description:
    'Accepts events of the Notification plugin (acting once a build is COMPLETED or FINALIZED) and ' +
    'generic build events. Sign the request (X-Faultline-Signature) or, because the plugin cannot ' +
    'sign, send the secret as the password of HTTP Basic authentication, which the plugin takes from ' +
    'its URL, or in X-Faultline-Token. `?token=` is accepted too, but shows the secret wherever the ' +
    'address is printed.',
  headers: z.object({
    'x-faultline-id': z.string().optional().describe('Delivery ID; each ID is accepted once.'),
    'x-faultline-timestamp': z
      .string()
      .optional()
      .describe("Unix time in seconds; at most 5 minutes from the server's time."),
  }),
  body: z.union([NotificationEvent, GenericEvent]),
  security: {
    jenkinsSignature: {
      in: 'header',
      name: 'X-Faultline-Signature',
      description:
        '`sha256=` and the HMAC-SHA256 of `<id>.<timestamp>.<raw body>`, in hexadecimal; ' +
        'X-Faultline-Id and X-Faultline-Timestamp are required as well.',
    },
    jenkinsToken: {
      in: 'header',
      name: 'X-Faultline-Token',
      description: 'The secret itself, for senders that cannot sign.',
    },
    jenkinsBasic: {
      in: 'header',
      name: 'Authorization',
      description: '`Basic` with any user and the secret as the password.',
    },
    jenkinsQueryToken: {
      in: 'query',
      name: 'token',
      description: 'The secret, for senders that can do nothing else.',
    },
  },
  authenticate,
  read: (payload, request) => {
    // Only a signature vouches for the id.
    const deliveryId =
      request.header('x-faultline-signature') === undefined
        ? null
        : (request.header('x-faultline-id') ?? null);
    return { ...readJenkinsEvent(payload), deliveryId, once: deliveryId !== null };
  },
});

/** Reads an authenticated event of either shape. Throws `invalid-input` if it lacks a required field. */
export function readJenkinsEvent(payload: unknown): {
  readonly event: string;
  readonly reading: WebhookContent;
} {
  const isNotification = typeof payload === 'object' && payload !== null && 'build' in payload;
  if (!isNotification)
    return { event: 'build', reading: readGeneric(readInput('The build event', GenericEvent, payload)) };
  const event = readInput('The Notification plugin event', NotificationEvent, payload);
  return { event: event.build.phase.toLowerCase(), reading: readNotification(event) };
}

function readNotification(event: NotificationEvent): WebhookContent {
  const { build } = event;
  const phase = build.phase.toUpperCase();
  if (phase !== 'COMPLETED' && phase !== 'FINALIZED')
    return { ignored: `phase ${phase}: the build has not ended` };
  const status = toBuildStatus(build.status ?? '');
  if (status === null) return { ignored: describeOtherEnding(build.status) };
  const started = build.timestamp ?? null;
  return {
    build: createSparseBuild({
      provider: 'jenkins',
      repository: findRepositoryOfClone(build.scm?.url) ?? event.name,
      pipeline: toPipelineName(event.url) ?? event.name,
      number: String(build.number),
      externalId: build.full_url ?? null,
      branch: build.scm?.branch?.replace(/^origin\//, '') ?? null,
      commit: build.scm?.commit ?? null,
      url: build.full_url ?? null,
      status,
      startedAt: toUtc(started),
      finishedAt: started === null ? null : toUtc(started + (build.duration ?? 0)),
    }),
    log: status === 'failed' ? (build.log ?? null) : null,
    testResults: (build.test_summary?.failed_tests ?? []).slice(0, MAX_TESTS).map(splitFailedTest),
  };
}

/** Splits `package.Class.name` into class and name, in the same way as the report in the console. */
function splitFailedTest(fullName: string): TestResult {
  const name = toShown(fullName.slice(0, 500));
  const dot = name.lastIndexOf('.');
  return {
    name: name.slice(dot + 1),
    suite: dot > 0 ? name.slice(0, dot) : null,
    file: null,
    status: 'failed',
    durationMs: null,
  };
}

function readGeneric(event: GenericEvent): WebhookContent {
  const status = toBuildStatus(event.status);
  if (status === null) return { ignored: describeOtherEnding(event.status) };
  const { repository, pipeline, ...known } = event;
  return {
    build: createSparseBuild({
      repository,
      pipeline,
      ...omitUndefined(known),
      provider: 'jenkins',
      number: String(event.number),
      externalId: event.url ?? null,
      status,
      queuedSeconds: findSecondsBetween(event.queuedAt, event.startedAt),
      startedAt: toUtc(event.startedAt),
      finishedAt: toUtc(event.finishedAt),
    }),
  };
}

function toBuildStatus(status: string): BuildStatus | null {
  const word = status.toLowerCase();
  if (word === 'failure' || word === 'failed' || word === 'unstable') return 'failed';
  return word === 'success' || word === 'passed' ? 'passed' : null;
}

function describeOtherEnding(status: string | null | undefined): string {
  return `the build ended as ${(status ?? 'nothing').slice(0, 100)}: neither failed nor passed`;
}

/**
 * Converts `job/folder/job/name/` to `folder/name`, because two folders may contain jobs with the same name.
 */
function toPipelineName(jobUrl: string | null | undefined): string | null {
  const names = [...(jobUrl ?? '').matchAll(/(?:^|\/)job\/([^/]+)/g)].map((match) =>
    decodeSegment(match[1] ?? ''),
  );
  const pipeline = createShortTextSchema(500).safeParse(names.join('/'));
  return pipeline.success ? pipeline.data : null;
}
