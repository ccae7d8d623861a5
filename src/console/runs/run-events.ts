import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { RunStep } from '../../ports/run-steps.ts';
import type { AnalysisHead } from '../../ports/stores.ts';
import { traceStep } from '../../publish/trace.ts';
import { buildAddress, runAddress } from '../addresses.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { sendEvents } from '../events.ts';
import { type Html, html } from '../html.ts';
import { stepLine } from './step-line.ts';

const Params = z.object({ id: z.string().min(1).max(300) });
const config = { access: { role: 'read' } } as const;
/** Between two looks into the database; a step takes seconds with a model. */
const LOOK_MS = 700;
/** A page that is forgotten in a tab asks again after that. */
const LONGEST_MS = 30 * 60_000;

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
    done: 'Answered.',
    failed: `It could not be looked at: ${job?.error ?? 'the log says why'}.`,
  };
  return { steps, analyses, ended, sentence: job === null ? 'No triage is owed to this build.' : sentences[job.state] };
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
  const schema = { params: Params, querystring: z.object({ after: z.coerce.number().int().min(0).catch(0).default(0) }) };
  app.withTypeProvider<ZodTypeProvider>().get('/runs/:id/events', { config, schema }, async (request, reply) => {
    const build = await deps.stores.builds.find(request.params.id);
    if (build === null) throw new TriageError('not-found', `There is no build ${request.params.id}.`);
    const resumed = Number.parseInt(String(request.headers['last-event-id'] ?? ''), 10);
    let after = Number.isFinite(resumed) && resumed >= 0 ? resumed : request.query.after;
    const until = deps.clock.now() + LONGEST_MS;
    return sendEvents(request, reply, async (emit, signal) => {
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
    });
  });
}
