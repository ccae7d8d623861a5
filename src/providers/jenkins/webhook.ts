import { z } from 'zod';
import { type BuildStatus, createSparseBuild, type TestResult } from '../../domain/build.ts';
import { readInput } from '../../domain/errors.ts';
import { omitUndefined } from '../../lib/collections.ts';
import { joinPath } from '../check.ts';
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
    display_name: optionalText,
    build: z.object({
      full_url: createWebUrlSchema().nullish(),
      url: z.string().max(2000).nullish().describe('Path of the build: `job/folder/job/name/812/`.'),
      number: z.int().positive(),
      phase: createShortTextSchema(100),
      status: optionalText,
      timestamp: z.number().nullish().describe('When the build ended, in milliseconds since the Unix epoch.'),
      duration: z.number().nullish().describe('The duration in milliseconds.'),
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
          timestamp: 1772366400000,
          duration: 30000,
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
    queuedAt: z.iso.datetime({ offset: true }).nullish().describe('The time at which it was queued.'),
    startedAt: z
      .union([z.iso.datetime({ offset: true }), z.number().min(0)])
      .nullish()
      .describe('As ISO 8601, or in milliseconds since the Unix epoch.'),
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

/**
 * Creates `POST /webhooks/jenkins`: the Notification plugin's shape or the generic one, signed or with a
 * token. `baseUrl` completes addresses that the plugin sends without one.
 */
export function createJenkinsWebhook(baseUrl: string | null) {
  return createWebhook({
    ...DESCRIBED,
    authenticate,
    read: (payload, request, nowMs) => {
      // Only a signature vouches for the id.
      const deliveryId =
        request.header('x-faultline-signature') === undefined
          ? null
          : (request.header('x-faultline-id') ?? null);
      return { ...readJenkinsEvent(payload, { baseUrl, nowMs }), deliveryId, once: deliveryId !== null };
    },
  });
}

const DESCRIBED = {
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
} as const;

/** The facts about a delivery that its event does not contain. */
interface Receipt {
  /** The address of Jenkins; null if it is not configured. */
  readonly baseUrl: string | null;
  /** The time of the delivery, in milliseconds. */
  readonly nowMs: number;
}

/** Reads an authenticated event of either shape. Throws `invalid-input` if it lacks a required field. */
export function readJenkinsEvent(
  payload: unknown,
  receipt: Receipt,
): {
  readonly event: string;
  readonly reading: WebhookContent;
} {
  const isNotification = typeof payload === 'object' && payload !== null && 'build' in payload;
  if (!isNotification)
    return { event: 'build', reading: readGeneric(readInput('The build event', GenericEvent, payload)) };
  const event = readInput('The Notification plugin event', NotificationEvent, payload);
  return { event: event.build.phase.toLowerCase(), reading: readNotification(event, receipt) };
}

function readNotification(event: NotificationEvent, receipt: Receipt): WebhookContent {
  const { build } = event;
  const phase = build.phase.toUpperCase();
  if (phase !== 'COMPLETED' && phase !== 'FINALIZED')
    return { ignored: `phase ${phase}: the build has not ended` };
  const status = toBuildStatus(build.status ?? '');
  if (status === null) return { ignored: describeOtherEnding(build.status) };
  const pipeline = toPipelineName(event.url) ?? event.name;
  const url = build.full_url ?? findBuildUrl(event, receipt.baseUrl);
  return {
    build: createSparseBuild({
      provider: 'jenkins',
      // The full name: two folders may contain jobs with the same name, and each has a job `main`.
      repository: findRepositoryOfClone(build.scm?.url) ?? pipeline,
      pipeline,
      number: String(build.number),
      externalId: url,
      branch: build.scm?.branch?.replace(/^origin\//, '') ?? findEncodedBranch(event),
      commit: build.scm?.commit ?? null,
      url,
      status,
      ...findTimes(build, receipt.nowMs),
    }),
    incomplete: true,
    log: status === 'failed' ? (build.log ?? null) : null,
    testResults: (build.test_summary?.failed_tests ?? []).slice(0, MAX_TESTS).map(splitFailedTest),
  };
}

/**
 * Returns the times of a build from its end and its duration. An end in the future is that of another clock.
 */
function findTimes({ timestamp, duration }: NotificationEvent['build'], nowMs: number) {
  if (timestamp == null) return { startedAt: null, finishedAt: null };
  const end = Math.min(timestamp, nowMs);
  return { startedAt: toUtc(end - (duration ?? 0)), finishedAt: toUtc(end) };
}

/** Returns the address of a build below Jenkins. The plugin sends none if Jenkins does not know its own. */
function findBuildUrl({ url, build }: NotificationEvent, baseUrl: string | null): string | null {
  const path = build.url ?? (url == null ? null : `${url.replace(/\/$/, '')}/${build.number}/`);
  if (baseUrl === null || path === null || !/^(?:job\/[^/?#]{1,500}\/){1,20}\d{1,10}\/$/.test(path))
    return null;
  return createWebUrlSchema().safeParse(joinPath(baseUrl, path)).data ?? null;
}

/** Returns the branch whose encoded name is the name of its job: `feature%2Fcoupon`. Null for other jobs. */
function findEncodedBranch({ name, display_name }: NotificationEvent): string | null {
  return name !== display_name && decodeSegment(name) === display_name ? display_name : null;
}

/**
 * Splits `package.Class.name` into class and name, in the same way as the report in the console. A name may
 * contain dots: it begins at the first part that cannot be one of a class, such as `total is 1` of
 * `shop.CartTest.total is 1.50`, else at the last part.
 */
function splitFailedTest(fullName: string): TestResult {
  const parts = toShown(fullName.slice(0, 500)).split('.');
  const first = parts.findIndex((part) => !/^[\w$/-]+$/.test(part));
  const start = first === -1 ? parts.length - 1 : first;
  return {
    name: parts.slice(start).join('.'),
    suite: start > 0 ? parts.slice(0, start).join('.') : null,
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
      queuedSeconds: findSecondsBetween(event.queuedAt, toUtc(event.startedAt)),
      startedAt: toUtc(event.startedAt),
      finishedAt: toUtc(event.finishedAt),
    }),
    // The step knows no repository where the environment of the build has none.
    incomplete: repository === pipeline,
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
