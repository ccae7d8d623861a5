import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { RunStep } from '../../ports/job-queue.ts';
import type { AnalysisHead } from '../../ports/stores.ts';
import { traceStep } from '../../publish/trace.ts';
import { buildAddress, runAddress } from '../addresses.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { type Emit, sendEvents } from '../events.ts';
import { type Html, html } from '../html.ts';
import { stepLine } from './step-line.ts';

const Params = z.object({ id: z.string().min(1).max(300) });
const config = { access: { role: 'read' } } as const;
/** Between two looks into the database; a step takes seconds with a model. */
const LOOK_MS = 700;
/** The database counts no further. */
const LAST_POSITION = 2_147_483_647;
/** A page that is forgotten in a tab asks again after that. */
const LONGEST_MS = 30 * 60_000;

/** Pages that one holder watches at once, in one process: each asks the database again and again. */
export const MOST_WATCHED = 50;

/** What is being done for a build now. */
export interface LiveRun {
  readonly steps: readonly RunStep[];
  readonly analyses: readonly AnalysisHead[];
  /** Nobody works on it any more. */
  readonly ended: boolean;
  /** Where it stands, for people. */
  readonly sentence: string;
}

/** Steps after a position, and where the run stands. */
export async function liveRun(buildId: string, after: number, { stores }: Pick<ConsoleDeps, 'stores'>): Promise<LiveRun> {
  const job = await stores.triages.findByBuild(buildId);
  const [steps, analyses] = await Promise.all([stores.runSteps.after(buildId, after), stores.analyses.heads([buildId])]);
  const ended = job === null || job.state === 'done' || job.state === 'failed';
  const last = steps.at(-1)?.step;
  const sentences = {
    queued: 'Waiting for a worker.',
    running: last === undefined ? 'Reading the logs.' : `Done: ${last.node}. ${last.summary}`,
    done: 'Analyzed.',
    failed: `The analysis failed: ${job?.error ?? 'see the server log'}.`,
  };
  return { steps, analyses, ended, sentence: job === null ? 'This build needs no analysis.' : sentences[job.state] };
}

/** A stored step as a line of the page. */
export async function stepOf({ position, step }: RunStep, { masker }: Pick<ConsoleDeps, 'masker'>): Promise<Html> {
  return stepLine(await traceStep(step, async (text) => (await masker.mask(text)).text), position, null);
}

/**
 * `/runs/:id/events`: the steps of a build that is being looked at, as they end. Each event's id is its position: a reader that
 * comes again goes on after it. The last event is `done`, with the address of what was found.
 */
export function registerRunEvents(app: FastifyInstance, deps: ConsoleDeps): void {
  const schema = {
    params: Params,
    querystring: z.object({ after: z.coerce.number().int().min(0).max(LAST_POSITION).catch(0).default(0) }),
  };
  const watching = createWatchers();
  const options = { config, schema, exposeHeadRoute: false };
  app.withTypeProvider<ZodTypeProvider>().get('/runs/:id/events', options, async (request, reply) => {
    const build = await deps.stores.builds.find(request.params.id);
    if (build === null) throw new TriageError('not-found', `There is no build ${request.params.id}.`);
    const resumed = Number.parseInt(String(request.headers['last-event-id'] ?? ''), 10);
    let after = resumed >= 0 && resumed <= LAST_POSITION ? resumed : request.query.after;
    const until = deps.clock.now() + LONGEST_MS;
    const leave = watching.enter(request.principal?.name ?? '');
    const watch = async (emit: Emit, signal: AbortSignal) => {
      for (;;) {
        const run = await liveRun(build.id, after, deps);
        for (const step of run.steps) {
          after = step.position;
          emit('step', (await stepOf(step, deps)).text, String(after));
        }
        emit('state', html`${run.sentence}`.text);
        const [only] = run.analyses;
        if (run.ended) return emit('done', run.analyses.length === 1 && only !== undefined ? runAddress(only.id) : buildAddress(build.id));
        if (deps.clock.now() > until) return;
        await wait(LOOK_MS, undefined, { signal });
      }
    };
    return sendEvents(request, reply, async (emit, signal) => await watch(emit, signal).finally(leave));
  });
}

/** Counts who watches; `enter` returns how to leave, and throws `rate-limited` where a holder watches too much. */
function createWatchers(): { enter(holder: string): () => void } {
  const counts = new Map<string, number>();
  return {
    enter: (holder) => {
      const count = counts.get(holder) ?? 0;
      if (count >= MOST_WATCHED)
        throw new TriageError('rate-limited', `${holder} already watches ${count} runs. Close some of those pages.`, { retryable: true });
      counts.set(holder, count + 1);
      return () => {
        const left = (counts.get(holder) ?? 1) - 1;
        if (left > 0) counts.set(holder, left);
        else counts.delete(holder);
      };
    },
  };
}
