import type { FastifyInstance } from 'fastify';
import type { ConsoleDeps } from '../console-deps.ts';
import { registerCausePage } from './cause-page.ts';
import { causesView } from './causes-page.ts';
import { costView } from './cost-page.ts';
import { flakyView } from './flaky-page.ts';
import { registerInsightsRoute } from './insights-frame.ts';
import { overviewView } from './overview-page.ts';
import { reviewersView } from './reviewers-page.ts';
import { trustView } from './trust-page.ts';

/** What was answered and decided, in figures: for all who read, and how people decide for those who review. */
export function registerInsightsPages(app: FastifyInstance, deps: ConsoleDeps): void {
  registerInsightsRoute(app, deps, { path: '/insights', role: 'read', view: overviewView });
  registerInsightsRoute(app, deps, { path: '/insights/trust', role: 'read', view: trustView });
  registerInsightsRoute(app, deps, { path: '/insights/flaky', role: 'read', view: flakyView });
  registerInsightsRoute(app, deps, { path: '/insights/causes', role: 'read', view: causesView });
  registerInsightsRoute(app, deps, { path: '/insights/cost', role: 'read', view: costView });
  registerInsightsRoute(app, deps, { path: '/insights/reviewers', role: 'review', view: reviewersView });
  registerCausePage(app, deps);
}
