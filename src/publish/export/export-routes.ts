import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ShownStores } from '../../ports/stores.ts';
import { answerAmbiguity } from '../build-routes.ts';
import { findBuild } from '../find-build.ts';
import { AmbiguousBuild, NarrowQuery } from '../views.ts';
import { ctrfOf } from './ctrf.ts';
import { type Exported, sarifOf } from './sarif.ts';

export interface ExportDeps {
  readonly stores: Pick<ShownStores, 'builds' | 'analyses' | 'failures'>;
  readonly config: { readonly http: { readonly publicUrl: string | null } };
}

const Params = z.object({ id: z.string().min(1).max(300).describe('Our id, or `provider:number` such as `github:812`') });
const access = { access: { role: 'read' } } as const;
const Json = z.record(z.string(), z.unknown());

const FORMATS = {
  sarif: {
    operationId: 'exportBuildAsSarif',
    summary: 'The answers for one build as SARIF 2.1.0, for code scanning and editors',
    type: 'application/sarif+json',
    write: sarifOf,
  },
  ctrf: {
    operationId: 'exportBuildAsCtrf',
    summary: 'What failed in one build, with the causes, as a CTRF report',
    type: 'application/json',
    write: ctrfOf,
  },
} as const;

/** One build in formats that other tools read. */
export function registerExportRoutes(app: FastifyInstance, deps: ExportDeps): void {
  for (const [name, { operationId, summary, type, write }] of Object.entries(FORMATS)) {
    const response = {
      200: { description: 'See the published schema of the format', content: { [type]: { schema: Json } } },
      409: AmbiguousBuild,
    };
    const schema = { tags: ['Builds'], operationId, summary, params: Params, querystring: NarrowQuery, response };
    app
      .withTypeProvider<ZodTypeProvider>()
      .get(
        `/api/builds/:id/${name}`,
        { config: access, errorHandler: answerAmbiguity, schema },
        async ({ params: { id }, query }, reply) => {
          const exported = await read(deps, id, query);
          return reply
            .type(`${type}; charset=utf-8`)
            .serializer(JSON.stringify)
            .send({ ...write(exported) });
        },
      );
  }
}

async function read({ stores, config }: ExportDeps, id: string, narrow: z.infer<typeof NarrowQuery>): Promise<Exported> {
  const build = await findBuild(stores.builds, id, narrow);
  const [analyses, failures] = await Promise.all([stores.analyses.listByBuild(build.id), stores.failures.listByBuild(build.id)]);
  return { build, analyses, failures, publicUrl: config.http.publicUrl };
}
