import { PassThrough, type Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Scoped } from '../domain/access.ts';
import type { Step } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import type { Turn } from '../domain/conversation.ts';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import type { Principal } from '../domain/review.ts';
import { omitUndefined } from '../lib/collections.ts';
import type { TextPiece } from '../ports/analyst.ts';
import { toPage } from '../ports/database.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { AskWatcher } from '../service/ask/answer-question.ts';
import { type Ask, type AskInput, createGate, type Gate } from '../service/ask/ask.ts';
import {
  AnswerView,
  AskBody,
  answerView,
  ThreadList,
  ThreadsQuery,
  ThreadView,
} from '../service/ask/views.ts';
import { type ApiApp, route } from './route.ts';

interface AskRouteDeps {
  readonly ask: Scoped<Ask>;
  /** Finds a build by an id in any form that routes accept. Throws `not-found`. */
  readonly findBuild: (id: string) => Promise<Build>;
  readonly logger: Logger;
}

const Params = z.object({ id: z.string().min(1).max(300) });
/**
 * The maximum number of questions from one address in a minute. A question may cost tokens and tool calls.
 */
const QUESTIONS_A_MINUTE = 30;
/** The maximum number of questions that one process answers concurrently. */
export const AT_ONCE = 8;
const EVENTS = 'text/event-stream';

/**
 * Registers the routes for follow-up questions about an analysis or a build, answered as JSON or as
 * server-sent events, and for reading and deleting threads.
 */
export function registerAskRoutes(app: ApiApp, deps: AskRouteDeps): void {
  const gate = createGate(AT_ONCE);
  const { ask, findBuild } = deps;
  const open = async (about: AskInput['about'], { question, thread }: AskBody, askedBy: string) => {
    const opened = await ask.open({ about, question, threadId: thread, askedBy });
    return {
      threadId: opened.thread.id,
      answer: (watcher: AskWatcher, signal: AbortSignal) => ask.answer(opened, watcher, signal),
    };
  };
  registerAsk(app, deps, gate, {
    url: '/api/analyses/:id/ask',
    operationId: 'askAboutAnalysis',
    summary: 'Ask about an analysis',
    open: (id, body, askedBy) => open({ analysisId: id }, body, askedBy),
  });
  registerAsk(app, deps, gate, {
    url: '/api/builds/:id/ask',
    operationId: 'askAboutBuild',
    summary: 'Ask about a build',
    open: async (id, body, askedBy) => await open({ buildId: (await findBuild(id)).id }, body, askedBy),
  });
  registerThreads(app, deps);
}

const DESCRIPTION =
  `Starts or continues a thread. With \`Accept: ${EVENTS}\`, the answer is sent as events: ` +
  '`step` (each finished step with its tool calls), `text` (parts of the answer before it is ' +
  'checked; `restart` discards earlier parts), `answer` (the checked answer with its citations), ' +
  '`error`, and `done`. Closing the connection stops the answer; a stopped answer is not stored.';

/** A question that can be answered. */
interface Answerable {
  readonly threadId: string;
  readonly answer: (watcher: AskWatcher, signal: AbortSignal) => Promise<Turn>;
}

interface AskRoute {
  readonly url: string;
  readonly operationId: string;
  readonly summary: string;
  /** The part of its description in front of what all routes have in common. */
  readonly description?: string;
  readonly params?: typeof Params;
  readonly open: (id: string, body: AskBody, askedBy: string) => Promise<Answerable>;
}

/**
 * Registers a route for questions. A user who may read an answer may ask about it, because a question changes
 * only its own thread.
 */
export function registerAsk(
  app: ApiApp,
  { logger }: Pick<AskRouteDeps, 'logger'>,
  gate: Gate,
  asked: AskRoute,
): void {
  const { url, operationId, summary, description = '', params = Params, open } = asked;
  const content = { 'application/json': { schema: AnswerView }, [EVENTS]: { schema: z.string() } };
  const response = { 200: { description: 'The answer', content } };
  const described = route('read', 'Ask', operationId, summary, {
    description: `${description}${DESCRIPTION}`,
    params,
    body: AskBody,
    response,
  });
  app.post(
    url,
    {
      ...described,
      config: { ...described.config, rateLimit: { max: QUESTIONS_A_MINUTE, timeWindow: 60_000 } },
    },
    async (request, reply) => {
      // A request that is refused before any lookup gets a plain response with its status, even if the client
      // asked for events.
      const opened = await open(request.params.id, request.body, requirePrincipal(request).name);
      const leave = gate.enter();
      reply.header('cache-control', 'no-store');
      if (wantsEvents(request)) {
        sendEvents(reply, streamAnswer(opened, leave, logger));
        return reply;
      }
      const gone = new AbortController();
      reply.raw.on('close', () => gone.abort());
      try {
        return answerView(await opened.answer({}, gone.signal));
      } catch (error) {
        if (!gone.signal.aborted) throw error;
        // The client is gone, so no response can be delivered, and this is not an error.
        return reply.hijack();
      } finally {
        leave();
      }
    },
  );
}

/** Sends events and bypasses the response schema of the route, which describes the JSON response. */
function sendEvents(reply: Pick<FastifyReply, 'header' | 'send'>, events: Readable): void {
  reply.header('x-accel-buffering', 'no').header('content-type', `${EVENTS}; charset=utf-8`);
  reply.send(events);
}

function streamAnswer({ threadId, answer }: Answerable, leave: () => void, logger: Logger): Readable {
  return createEventStream(
    async (emit, signal) => {
      const onStep = (step: Step) => emit('step', step);
      const onText = ({ text, restart }: TextPiece) =>
        emit('text', restart === true ? { text, restart } : { text });
      emit('answer', answerView(await answer({ onStep, onText }, signal).finally(leave)));
    },
    (error) => logger.warn({ threadId, error }, 'a question could not be answered'),
  );
}

function registerThreads(app: ApiApp, { ask, findBuild }: AskRouteDeps): void {
  app.get(
    '/api/threads',
    route('read', 'Ask', 'listThreads', 'List threads, newest question first', {
      querystring: ThreadsQuery,
      response: { 200: ThreadList },
    }),
    async ({ query: { analysis, build, limit, offset } }) => {
      const buildId = build === undefined ? undefined : (await findBuild(build)).id;
      const filter = omitUndefined({ analysisId: analysis, buildId });
      return toPage(await ask.threads(filter, { limit, offset }), { limit, offset });
    },
  );
  app.get(
    '/api/threads/:id',
    route('read', 'Ask', 'getThread', 'Get a thread with its questions and answers', {
      params: Params,
      response: { 200: ThreadView },
    }),
    async ({ params: { id } }) => {
      const { thread, turns } = await ask.thread(id);
      return { thread, turns: [...turns] };
    },
  );
  app.delete(
    '/api/threads/:id',
    route('read', 'Ask', 'deleteThread', 'Delete a thread that you started', {
      params: Params,
      response: { 204: z.null() },
    }),
    async (request, reply) => {
      const { thread } = await ask.thread(request.params.id);
      requireOwner(thread, requirePrincipal(request));
      await ask.forget(thread.id);
      return reply.code(204).send(null);
    },
  );
}

/** Throws `forbidden` unless the thread was started by the principal, or the principal is an admin. */
export function requireOwner(
  { startedBy }: { readonly startedBy: string },
  { name, roles }: Principal,
): void {
  if (startedBy === name || roles.includes('admin')) return;
  const message = `The thread was started by ${startedBy}; only they or an admin may delete it.`;
  throw new TriageError('forbidden', message);
}

export function requirePrincipal(request: FastifyRequest): Principal {
  const principal: Principal | null = request.principal;
  if (principal === null) throw new TriageError('internal', 'A route that needs a token ran without one');
  return principal;
}

/** Returns true if the client accepts the content type of events explicitly. All other clients get JSON. */
function wantsEvents(request: FastifyRequest): boolean {
  return (request.headers.accept ?? '').split(',').some((type) => type.split(';', 1)[0]?.trim() === EVENTS);
}

/** The interval between heartbeats in milliseconds. Proxies end connections that are silent for long. */
const HEARTBEAT_MS = 15_000;

type Emit = (event: string, data: object) => void;

/**
 * Runs work that reports events, as a stream of server-sent events. The stream consists of a comment at once
 * and every 15 s, the events, `error` if the work fails, and `done` at the end. If the client disconnects,
 * the signal of the work is aborted.
 */
export function createEventStream(
  work: (emit: Emit, signal: AbortSignal) => Promise<void>,
  onError: (error: unknown) => void,
): Readable {
  const stream = new PassThrough();
  const gone = new AbortController();
  const write = (text: string) => void (stream.writable && stream.write(text));
  const emit: Emit = (event, data) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const heartbeat = setInterval(() => write(': still here\n\n'), HEARTBEAT_MS);
  stream.on('close', () => {
    clearInterval(heartbeat);
    gone.abort(new TriageError('cancelled', 'The client disconnected.'));
  });
  stream.on('error', () => undefined); // A broken connection means that the client disconnected
  write(': begins\n\n');
  work(emit, gone.signal)
    .catch((error: unknown) => {
      if (gone.signal.aborted) return;
      onError(error);
      emit('error', toClientError(error));
    })
    .finally(() => {
      emit('done', {});
      stream.end();
    });
  return stream;
}

/** Returns the error for the client. Unexpected errors and driver messages appear only in the log. */
function toClientError(error: unknown): { code: string; message: string; retryable: boolean } {
  const known =
    error instanceof TriageError && !(error.code === 'storage-failed' && error.cause !== undefined);
  const code = error instanceof TriageError ? error.code : 'internal';
  const message = known ? getErrorMessage(error) : 'Something went wrong. See the server log.';
  return { code, message, retryable: error instanceof TriageError && error.retryable };
}
