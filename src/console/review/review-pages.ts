import type { FastifyInstance } from 'fastify';
import type { ConsoleDeps } from '../console-deps.ts';
import { registerDecisions, registerHolding } from './decision-routes.ts';
import { registerItem } from './item-routes.ts';
import { registerQueue } from './queue-routes.ts';

/** The queue of what waits for a person, its items, and what can be done with them. */
export function registerReviewPages(app: FastifyInstance, deps: ConsoleDeps): void {
  registerQueue(app, deps);
  registerItem(app, deps);
  registerDecisions(app, deps);
  registerHolding(app, deps);
}
