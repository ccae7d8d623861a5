import { z } from 'zod';
import type { Deployment } from '../domain/health.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import { createShortTextSchema, createWebUrlSchema } from '../providers/read-input.ts';
import type { ScopedStores, ShownStores } from '../stores/stores.ts';
import { type ApiApp, route } from './route.ts';

interface KeepingDeps {
  readonly stores: { readonly health: Pick<ShownStores['health'], 'addDeployment'> };
  readonly masker: Pick<Masker, 'mask'>;
}

interface DeploymentRouteDeps extends KeepingDeps {
  readonly stores: { readonly health: Pick<ScopedStores['health'], 'addDeployment'> };
  readonly clock: Clock;
}

/** Stores a deployment once, with its secrets masked. Returns the stored deployment. */
export async function keepDeployment(
  { stores, masker }: KeepingDeps,
  given: Deployment,
): Promise<Deployment> {
  const mask = async (text: string) => (await masker.mask(text)).text;
  const [environment, version] = [await mask(given.environment), await mask(given.version)];
  const deployment = {
    ...given,
    environment,
    version,
    url: given.url === null ? null : await mask(given.url),
  };
  await stores.health.addDeployment(deployment);
  return deployment;
}

const Given = z.strictObject({
  repository: createShortTextSchema(300),
  environment: createShortTextSchema(200).describe('The environment, such as production'),
  version: createShortTextSchema(300).describe('The deployed version: a tag, a branch or a commit'),
  at: z.iso.datetime({ offset: true }).optional().describe('The time of the deployment. Now if absent'),
  url: createWebUrlSchema().optional(),
});

const Kept = z.object({
  repository: z.string(),
  environment: z.string(),
  version: z.string(),
  url: z.string().nullable(),
  at: z.iso.datetime(),
}) satisfies z.ZodType<Deployment>;

/** Registers `POST /api/deployments`, which records deployments for the trends of a repository. */
export function registerDeploymentRoutes(app: ApiApp, { clock, ...deps }: DeploymentRouteDeps): void {
  app.post(
    '/api/deployments',
    route(
      'ingest',
      'Intake',
      'reportDeployment',
      'Report a deployment, which is then marked in the trends of its repository',
      {
        description: 'The same repository, environment, version and time count once. Secrets are masked.',
        body: Given,
        response: { 200: Kept },
      },
    ),
    async ({ body: { at, url = null, ...given } }) =>
      await keepDeployment(deps, { ...given, url, at: new Date(at ?? clock.now()).toISOString() }),
  );
}
