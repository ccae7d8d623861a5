import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { GivenAnalysis } from '../../src/domain/analysis.ts';
import type { NewBuild } from '../../src/domain/build.ts';
import { getErrorMessage, isRetryable, TriageError } from '../../src/domain/errors.ts';
import type { Experiment } from '../../src/domain/experiment.ts';
import { ExplainedFailures } from '../../src/domain/explained-failures.ts';
import { retryAfter } from '../../src/lib/time.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import { arrangeAnswers, pairWithFailures } from '../../src/notifications/build-answers.ts';
import { readBody } from '../../src/providers/rest-client.ts';
import { maskExperiment } from '../../src/service/experiments.ts';
import type { UploadedFile } from '../../src/service/intake/upload.ts';
import type { ExplainedAnswer } from './render-answer.ts';

const REQUEST_MS = 60_000;
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const MAX_RETRY_WAIT_MS = 10_000;
const TRIES = 4;
const POLL_MS = 2_000;

export interface Server {
  readonly url: string;
  readonly token: string;
}

export interface ServerAnswer {
  /** Empty if no answer came in time; `pending` says why. */
  readonly answers: readonly ExplainedAnswer[];
  readonly pending: string | null;
}

const Received = z.object({ buildId: z.string().regex(/^[\w-]{1,100}$/) });
const Answers = z.object({
  triage: z.object({ state: z.string(), error: z.string().nullish() }).nullable(),
  analyses: z.array(z.object({ explains: ExplainedFailures.optional() }).and(GivenAnalysis)),
});
const Refusal = z.object({ error: z.object({ message: z.string() }) });

/** Uploads the build; its id. Throws TriageError with the server's own sentence, as the others do. */
export async function uploadBuild(
  server: Server,
  run: NewBuild,
  files: readonly UploadedFile[],
): Promise<string> {
  return (await retry(() => send(server, '/api/builds', Received, () => createUploadForm(run, files))))
    .buildId;
}

/** Tells the server what running the command again has shown. */
export async function reportExperiment(
  server: Server,
  buildId: string,
  experiment: Experiment,
): Promise<void> {
  const masked = JSON.stringify(await maskExperiment(experiment, createMasker()));
  await retry(() => send(server, `/api/builds/${buildId}/experiments`, z.unknown(), () => masked));
}

/** Waits at most `waitMs` for the analysis of a build. */
export async function awaitAnswer(server: Server, buildId: string, waitMs: number): Promise<ServerAnswer> {
  const until = Date.now() + waitMs;
  while (Date.now() < until) {
    const { triage, analyses } = await retry(() => send(server, `/api/builds/${buildId}/analyses`, Answers));
    const working = triage?.state === 'queued' || triage?.state === 'running';
    if (!working)
      return {
        answers: tellAnswers(analyses),
        pending: analyses.length > 0 ? null : (triage?.error ?? 'The triage ended without an answer.'),
      };
    await delay(Math.min(POLL_MS, Math.max(0, until - Date.now())));
  }
  return {
    answers: [],
    pending: waitMs === 0 ? 'The build was uploaded.' : `No answer within ${waitMs / 1000} s.`,
  };
}

/**
 * Returns the answers as the server has them. A server of an older version does not report which failures an
 * answer explains, so they are counted here.
 */
function tellAnswers(analyses: z.infer<typeof Answers>['analyses']): ExplainedAnswer[] {
  const counted = new Map(
    arrangeAnswers(pairWithFailures(analyses, [])).map(({ analysis, explains }) => [analysis.id, explains]),
  );
  return analyses.flatMap(({ explains, ...analysis }) => {
    const explained = explains ?? counted.get(analysis.id);
    return explained === undefined ? [] : [{ analysis, explains: explained }];
  });
}

/**
 * Builds the form of an upload. The server treats the same content as the same upload, so a form can safely
 * be sent again.
 */
function createUploadForm(run: NewBuild, files: readonly UploadedFile[]): FormData {
  const { provider: _provider, externalId: _id, ...metadata } = run;
  const form = new FormData();
  form.append('metadata', JSON.stringify(metadata));
  for (const { kind, name, bytes } of files) form.append(kind, new Blob([gzipSync(bytes)]), `${name}.gz`);
  return form;
}

async function retry<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let left = TRIES - 1; ; left--) {
    try {
      return await work();
    } catch (error) {
      if (left === 0 || !isRetryable(error)) throw error;
      await delay(error instanceof TriageError ? (error.retryAfterMs ?? 1_000) : 1_000);
    }
  }
}

async function send<Value>(
  server: Server,
  path: string,
  schema: z.ZodType<Value>,
  body?: () => FormData | string,
): Promise<Value> {
  const sent = body?.();
  const response = await fetch(`${server.url}${path}`, {
    method: sent === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${server.token}`,
      accept: 'application/json',
      ...(typeof sent === 'string' ? { 'content-type': 'application/json' } : {}),
    },
    ...(sent === undefined ? {} : { body: sent }),
    // A token must not follow a redirect.
    redirect: 'error',
    signal: AbortSignal.timeout(REQUEST_MS),
  }).catch((cause: unknown) => {
    throw new TriageError(
      'upstream-failed',
      `Cannot reach Faultline at ${server.url} (${getErrorMessage(cause)}).`,
      {
        retryable: true,
        cause,
      },
    );
  });
  const value = parse(
    (await readBody('Faultline', 'the answer', response.body, MAX_ANSWER_BYTES)).toString('utf8'),
  );
  if (!response.ok) throw createRefusedError(response, value);
  const answer = schema.safeParse(value);
  if (answer.success) return answer.data;
  throw new TriageError(
    'upstream-failed',
    `The server at ${server.url} is not a Faultline version that this action supports.`,
  );
}

function createRefusedError(response: Response, value: unknown): TriageError {
  const refusal = Refusal.safeParse(value);
  const message = refusal.success ? refusal.data.error.message : `The server returned ${response.status}.`;
  const waitMs = Math.max(1_000, retryAfter(response.headers) ?? 0);
  const waits = { retryable: true, retryAfterMs: Math.min(MAX_RETRY_WAIT_MS, waitMs) };
  if (response.status === 429 || response.status >= 500)
    return new TriageError('upstream-failed', message, waits);
  if (response.status === 403)
    return new TriageError('forbidden', `${message} The action's token needs the roles ingest and read.`);
  if (response.status === 409)
    return createConflictError(message, response.headers.has('retry-after') ? waits : {});
  return new TriageError(response.status === 401 ? 'unauthenticated' : 'upstream-failed', message);
}

function createConflictError(
  reply: string,
  waits: { retryable?: true; retryAfterMs?: number } | object,
): TriageError {
  return new TriageError(
    'conflict',
    `${reply} Each job of a run needs its own name: add the matrix values to the input "pipeline".`,
    waits,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
