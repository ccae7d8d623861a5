import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { OpenQuestion } from '../../ask/ask.ts';
import { createGate } from '../../ask/gate.ts';
import type { Analysis } from '../../domain/analysis.ts';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { threadAddress } from '../addresses.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { sendEvents } from '../events.ts';
import { html } from '../html.ts';
import { sendPage } from '../page.ts';
import { readerOf } from '../reader.ts';
import { askPage, threadPage } from './ask-page.ts';

const Params = z.object({ id: z.string().min(1).max(300) });
const ThreadParams = Params.extend({ thread: z.string().min(1).max(300) });
const Body = z.object({ question: z.string().max(10_000), thread: z.string().max(300).optional() });
const config = { access: { role: 'read' } } as const;
/** Of one process. */
const AT_ONCE = 8;
/** A question may cost tokens and tool calls; of one address, a minute. */
const QUESTIONS_A_MINUTE = 30;

/** `/analyses/:id/ask`: follow-up questions. The answer comes as a page, or as events to a browser that can show it growing. */
export function registerAskPages(app: FastifyInstance, deps: ConsoleDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const gate = createGate(AT_ONCE);
  typed.get('/analyses/:id/ask', { config, schema: { params: Params } }, async (request, reply) => {
    const analysis = await analysisOf(request.params.id, deps);
    const threads = await deps.ask.threads({ analysisId: analysis.id }, { limit: 20, offset: 0 });
    const page = { title: 'Ask', place: 'page', part: 'builds', main: askPage(analysis, threads) } as const;
    return sendPage(request, reply, page, await readerOf(request, deps));
  });
  typed.get('/analyses/:id/ask/:thread', { config, schema: { params: ThreadParams } }, async (request, reply) => {
    const analysis = await analysisOf(request.params.id, deps);
    const { thread, turns } = await deps.ask.thread(request.params.thread);
    if (thread.analysisId !== analysis.id) throw new TriageError('not-found', `The thread ${thread.id} belongs to another analysis.`);
    const page = { title: thread.title, place: 'page', part: 'builds', main: threadPage(analysis, thread, turns) } as const;
    return sendPage(request, reply, page, await readerOf(request, deps));
  });
  const limited = { ...config, rateLimit: { max: QUESTIONS_A_MINUTE, timeWindow: 60_000 } };
  typed.post('/analyses/:id/ask', { config: limited, schema: { params: Params, body: Body } }, async (request, reply) => {
    const { question, thread } = request.body;
    const about = { analysisId: request.params.id };
    const opened = await deps.ask.open({ about, question, threadId: thread, askedBy: request.principal?.name ?? '' });
    const leave = gate.enter();
    if ((request.headers.accept ?? '').includes('text/event-stream')) return answerAsEvents(opened, request, reply, deps, leave);
    const gone = new AbortController();
    reply.raw.on('close', () => gone.abort());
    const turn = await deps.ask.answer(opened, {}, gone.signal).finally(leave);
    return reply.redirect(`${threadAddress(about.analysisId, opened.thread.id)}#turn-${turn.position}`, 303);
  });
}

async function analysisOf(id: string, { stores }: ConsoleDeps): Promise<Analysis> {
  const analysis = await stores.analyses.find(id);
  if (analysis === null) throw new TriageError('not-found', `There is no analysis ${id}.`);
  return analysis;
}

/** `step` and `text` while it grows, `wrong` where it fails, `done` with the address of the checked whole. */
function answerAsEvents(
  opened: OpenQuestion,
  request: FastifyRequest,
  reply: FastifyReply,
  { ask }: ConsoleDeps,
  leave: () => void,
): FastifyReply {
  return sendEvents(request, reply, async (emit, signal) => {
    const watcher = {
      onStep: ({ node, summary }: { readonly node: string; readonly summary: string }) => emit('step', html`${node}: ${summary}`.text),
      onText: ({ text, restart }: { readonly text: string; readonly restart?: boolean }) =>
        emit(restart === true ? 'restart' : 'text', html`${text}`.text),
    };
    try {
      const turn = await ask.answer(opened, watcher, signal);
      emit('done', `${threadAddress(opened.thread.analysisId, opened.thread.id)}#turn-${turn.position}`);
    } catch (error) {
      if (!signal.aborted)
        emit(
          'wrong',
          html`${error instanceof TriageError && error.cause === undefined ? messageOf(error) : 'The question could not be answered. See the server log for the reason.'}`
            .text,
        );
      throw error;
    } finally {
      leave();
    }
  });
}
