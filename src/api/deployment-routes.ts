import { z } from 'zod';
import type { Deployment } from '../domain/health.ts';
import type { Clock } from '../lib/time.ts';
import { shortText, webAddress } from '../providers/read-input.ts';
import type { ScopedStores } from '../stores/stores.ts';
import { type ApiApp, route } from './route.ts';

interface DeploymentRouteDeps {
  readonly stores: Pick<ScopedStores, 'health'>;
  readonly clock: Clock;
}

const Given = z.strictObject({
  repository: shortText(300),
  environment: shortText(200).describe('Where it went live, such as production'),
  version: shortText(300).describe('What went live: a tag, a branch or a commit'),
  at: z.iso.datetime({ offset: true }).optional().describe('When; absent: now'),
  url: webAddress().optional(),
});

const Kept = z.object({
  repository: z.string(),
  environment: z.string(),
  version: z.string(),
  url: z.string().nullable(),
  at: z.iso.datetime(),
}) satisfies z.ZodType<Deployment>;

/** `POST /api/deployments`: what went live, for the trends of its repository. */
export function registerDeploymentRoutes(app: ApiApp, { stores, clock }: DeploymentRouteDeps): void {
  app.post(
    '/api/deployments',
    route('ingest', 'Intake', 'reportDeployment', 'Report a deployment, which is then marked in the trends of its repository', {
      description: 'The same repository, environment, version and time count once. Secrets are masked.',
      body: Given,
      response: { 200: Kept },
    }),
    async ({ body: { at, url = null, ...given } }) => {
      const deployment = { ...given, url, at: new Date(at ?? clock.now()).toISOString() };
      await stores.health.addDeployment(deployment);
      return deployment;
    },
  );
}
