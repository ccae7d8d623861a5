import type { FastifyInstance } from 'fastify';
import { registerBuildUpload } from './build-upload.ts';
import { registerGithubWebhook } from './github-webhook.ts';
import type { IntakeDeps } from './intake-deps.ts';
import { registerJenkinsWebhook } from './jenkins-webhook.ts';

/** The doors through which builds come in. Each has a scope of its own, since each reads its body in its own way. */
export async function registerIntakeRoutes(app: FastifyInstance, deps: IntakeDeps): Promise<void> {
  await app.register(async (scope) => registerGithubWebhook(scope, deps));
  await app.register(async (scope) => registerJenkinsWebhook(scope, deps));
  await app.register((scope) => registerBuildUpload(scope, deps));
}
