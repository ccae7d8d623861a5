import { z } from 'zod';
import { Experiment } from '../domain/experiment.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Database } from '../ports/database.ts';
import { findBuild, NarrowQuery } from '../service/answers/views.ts';
import { reportExperiment } from '../service/experiments.ts';
import type { ScopedStores } from '../stores/stores.ts';
import { BuildParams } from './build-params.ts';
import { type ApiApp, route } from './route.ts';

interface ExperimentRouteDeps {
  readonly stores: Pick<ScopedStores, 'builds' | 'experiments' | 'notices'>;
  readonly database: Database;
  readonly masker: Masker;
}

const Reported = z.object({
  buildId: z.string(),
  analyses: z
    .array(z.string())
    .describe('The answers that now include the experiment. Later answers of the build will include it too'),
});

/**
 * Registers `POST /api/builds/:id/experiments`. A CI job or a developer posts the result of running a failing
 * command again to it.
 */
export function registerExperimentRoutes(app: ApiApp, deps: ExperimentRouteDeps): void {
  app.post(
    '/api/builds/:id/experiments',
    route('ingest', 'Intake', 'reportExperiment', 'Report the result of running a failing command again', {
      description:
        'As `faultline confirm --json` prints it. It becomes part of the answer to the cause whose ' +
        'tests it names, and takes precedence over what the history says about the change. ' +
        'Only runs count: every sentence is derived from their counts and exit codes, and texts that ' +
        'are sent are not kept. Secrets in names are masked. 422 with `issues` if counts are ' +
        'impossible, if the runs do not support a verdict, a fix or the commit that broke it, or if ' +
        'the diff of a fix must not be shown.',
      params: BuildParams,
      querystring: NarrowQuery,
      body: Experiment,
      response: { 200: Reported },
    }),
    async ({ params: { id }, query, body, principal }) => {
      const build = await findBuild(deps.stores.builds, id, query);
      return {
        buildId: build.id,
        analyses: await reportExperiment(deps, build, body, principal?.name ?? ''),
      };
    },
  );
}
