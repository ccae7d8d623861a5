import { z } from 'zod';
import { FailureRow } from '../domain/failure.ts';
import { Rule, RuleInput } from '../domain/library.ts';
import { createListSchema, pageQuery, toPage } from '../ports/database.ts';
import { requireReviewer } from '../service/review/queue.ts';
import { createRule, type RuleDeps, tryRule, withdrawRule } from '../service/review/rules.ts';
import { confirmInUse, type TeachDeps, withdrawEntry } from '../service/review/undo.ts';
import { TeachView, WithdrawBody } from '../service/review/views.ts';
import { type ApiApp, route } from './route.ts';

const Params = z.object({ id: z.string().min(1).max(100) });

/** Registers the routes that withdraw library entries or change them later. */
export function registerLibraryRoutes(app: ApiApp, deps: TeachDeps): void {
  app.post(
    '/api/library/:id/withdraw',
    route('review', 'Library', 'withdrawLibraryEntry', 'Withdraw an entry', {
      description: 'The entry is no longer used in recall and search. The entry it replaced is used again.',
      params: Params,
      body: WithdrawBody,
      response: { 200: TeachView },
    }),
    async (request) =>
      await withdrawEntry(deps, {
        id: request.params.id,
        by: requireReviewer(request),
        reason: request.body.reason,
      }),
  );
  app.post(
    '/api/library/:id/stays',
    route('review', 'Library', 'keepLibraryEntry', 'Confirm a flagged entry', {
      description:
        'Green builds contain the same lines as this entry, so it is not used until someone confirms it.',
      params: Params,
      response: { 200: TeachView },
    }),
    async (request) => await confirmInUse(deps, { id: request.params.id, by: requireReviewer(request) }),
  );
}

const RuleBody = RuleInput.extend({
  replaces: z.string().min(1).max(100).optional().describe('The rule that this version replaces'),
});
const RulesQuery = z.strictObject({
  withdrawn: z.enum(['true', 'false']).default('false').describe('Include withdrawn versions'),
  ...pageQuery,
});
const RuleList = createListSchema(Rule);
const TrialView = z.object({
  /** The reason why the rule would be refused. Null if it would be accepted. */
  refused: z.string().nullable(),
  line: z.string().nullable(),
  matches: z.array(FailureRow),
  tried: z.int(),
});

/** Registers the routes for rules, in which reviewers describe a kind of failure before it occurs again. */
export function registerRuleRoutes(app: ApiApp, deps: RuleDeps): void {
  app.get(
    '/api/rules',
    route('review', 'Rules', 'listRules', 'Rules of reviewers, newest first', {
      querystring: RulesQuery,
      response: { 200: RuleList },
    }),
    async ({ query: { withdrawn, limit, offset } }) => {
      const items = await deps.stores.rules.list({ limit, offset }, { withdrawn: withdrawn === 'true' });
      return toPage(items, { limit, offset });
    },
  );
  app.post(
    '/api/rules',
    route('review', 'Rules', 'createRule', 'Write a rule', {
      description:
        'Failures whose message or excerpt matches the pattern (RE2) are answered with it, without a ' +
        'model, unless a reviewer has confirmed their cause. It is rejected if it does not match its ' +
        'sample, or if it matches lines of green builds or lines printed for any cause.',
      body: RuleBody,
      response: { 200: Rule },
    }),
    async (request) => {
      const { replaces, ...input } = request.body;
      return await createRule(deps, input, requireReviewer(request), replaces);
    },
  );
  app.post(
    '/api/rules/try',
    route('review', 'Rules', 'tryRule', 'Test a rule', {
      description:
        'Tests it on its sample, on green builds and on the latest 200 failures. Nothing is stored.',
      body: RuleInput,
      response: { 200: TrialView },
    }),
    async (request) => {
      const trial = await tryRule(deps, request.body);
      return { ...trial, matches: [...trial.matches] };
    },
  );
  app.post(
    '/api/rules/:id/withdraw',
    route('review', 'Rules', 'withdrawRule', 'Withdraw a rule', {
      params: Params,
      body: WithdrawBody,
      response: { 200: Rule },
    }),
    async (request) =>
      await withdrawRule(deps, {
        id: request.params.id,
        by: requireReviewer(request),
        reason: request.body.reason,
      }),
  );
}
