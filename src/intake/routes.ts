import type { FastifyInstance } from 'fastify';
import { createBell } from './bell.ts';
import { registerBuildUpload } from './build-upload.ts';
import { registerGithubWebhook } from './github-webhook.ts';
import type { IntakeDeps, IntakeParts } from './intake-deps.ts';
import { registerJenkinsWebhook } from './jenkins-webhook.ts';
import { createLanding } from './landing.ts';
import { createRelay } from './relay.ts';

/**
 * The doors through which builds come in, and behind them the relay, which makes builds of what has landed. Each door has
 * a scope of its own, since each reads its body in its own way.
 */
export async function registerIntakeRoutes(app: FastifyInstance, parts: IntakeParts): Promise<void> {
  const bell = createBell(parts);
  const landing = createLanding(parts.stores.deliveries);
  const relay = createRelay({ ...parts, bell, busy: landing.busy });
  const deps: IntakeDeps = { ...parts, bell, landing, relay };
  // What an earlier process left is looked for once there are doors to serve, not by whoever only describes them.
  app.addHook('onListen', async () => relay.sweep());
  app.addHook('onClose', async () => await relay.stop());
  await app.register(async (scope) => registerGithubWebhook(scope, deps));
  await app.register(async (scope) => registerJenkinsWebhook(scope, deps));
  await app.register((scope) => registerBuildUpload(scope, deps));
}
