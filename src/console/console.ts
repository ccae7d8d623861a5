import type { FastifyInstance } from 'fastify';
import { registerAnalysisPage } from './analyses/analysis-page.ts';
import { registerAskPages } from './ask/ask-routes.ts';
import { registerAssets } from './assets.ts';
import { registerBuildList } from './builds/build-list.ts';
import { registerBuildPage } from './builds/build-page.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { registerErrorPages } from './error-pages.ts';
import { acceptForms } from './forms.ts';
import { registerInsightsPages } from './insights/insights-pages.ts';
import { registerLibraryPages } from './library/library-pages.ts';
import { registerLogs } from './logs/log-routes.ts';
import { registerMe } from './me.ts';
import { mayReview } from './reader.ts';
import { registerReviewPages } from './review/review-pages.ts';
import { registerRunPages } from './runs/run-page.ts';
import { registerSignIn } from './sign-in.ts';
import { registerSignInElsewhere } from './sign-in-elsewhere.ts';

/** The pages for people: every one works without scripts, and every route is theirs by `config.console`. */
export async function registerConsole(app: FastifyInstance, deps: ConsoleDeps): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, console: true };
    route.schema = { ...route.schema, hide: true };
  });
  acceptForms(app);
  registerErrorPages(app, deps);
  registerAssets(app);
  registerSignIn(app, deps);
  registerSignInElsewhere(app, deps);
  registerMe(app, deps);
  registerFront(app, deps);
  registerReviewPages(app, deps);
  registerLibraryPages(app, deps);
  registerAnalysisPage(app, deps);
  registerBuildList(app, deps);
  registerBuildPage(app, deps);
  registerRunPages(app, deps);
  registerLogs(app, deps);
  registerInsightsPages(app, deps);
  registerAskPages(app, deps);
}

/** Leads everybody to where their work is. */
function registerFront(app: FastifyInstance, deps: ConsoleDeps): void {
  const access = { open: 'leads to the first page that the asker may see, or to sign-in, and shows nothing itself' };
  app.get('/', { config: { access } }, async (request, reply) => {
    const principal = await deps.sessions.find(request).catch(() => null);
    if (principal === null) return reply.redirect('/sign-in', 303);
    return reply.redirect(mayReview(principal) ? '/review' : '/builds', 303);
  });
}
