import { z } from 'zod';
import { Rule, RuleInput } from '../channels/registry.ts';
import { OwnerChannels, OwnerChannelsInput, RuleEvent, SentMessage } from '../domain/notification-rule.ts';
import { createListSchema, pageQuery, takePage } from '../ports/database.ts';
import {
  deleteRule,
  previewRule,
  type RuleDeps,
  RulePreview,
  saveOwner,
  saveRule,
  sendTest,
} from '../service/notification-rules.ts';
import { requireReviewer } from '../service/review/queue.ts';
import { type ApiApp, requireFound, route } from './route.ts';

const TAG = 'Notifications';
const Params = z.object({ id: z.string().min(1).max(100).describe('ID of the rule') });
const Change = RuleInput.extend({
  version: z.int().min(1).max(2_147_483_647).describe('The version that was read'),
});
const Details = z.object({
  rule: Rule,
  messages: z.array(SentMessage),
  events: z.array(RuleEvent),
});
const Done = z.object({ done: z.literal(true) });
const DONE = { done: true } as const;
const LISTED = 50;

/** Registers the routes for notification rules and for the channels of owners. */
export function registerNotificationRoutes(app: ApiApp, deps: RuleDeps): void {
  const { notificationRules: rules } = deps.stores;
  app.get(
    '/api/notification-rules',
    route('review', TAG, 'listNotificationRules', 'Notification rules, by name', {
      querystring: z.strictObject(pageQuery),
      response: { 200: createListSchema(Rule) },
    }),
    async ({ query }) => takePage(await rules.list(), query),
  );
  app.get(
    '/api/notification-rules/:id',
    route('review', TAG, 'getNotificationRule', 'A rule with its latest messages and changes', {
      params: Params,
      response: { 200: Details },
    }),
    async ({ params: { id } }) => {
      const rule = requireFound(await rules.find(id), `notification rule ${id}`);
      return { rule, messages: await rules.messages(id, LISTED), events: await rules.events(id, LISTED) };
    },
  );
  app.post(
    '/api/notification-rules',
    route('review', TAG, 'createNotificationRule', 'Create a rule', {
      body: RuleInput,
      response: { 201: Rule },
    }),
    async (request, reply) =>
      reply.code(201).send(await saveRule(deps, request.body, requireReviewer(request))),
  );
  app.post(
    '/api/notification-rules/:id',
    route('review', TAG, 'changeNotificationRule', 'Replace a rule', {
      description: '409 if it changed since `version`.',
      params: Params,
      body: Change,
      response: { 200: Rule },
    }),
    async (request) => {
      const { version, ...input } = request.body;
      return await saveRule(deps, input, requireReviewer(request), { id: request.params.id, version });
    },
  );
  app.delete(
    '/api/notification-rules/:id',
    route('review', TAG, 'deleteNotificationRule', 'Delete a rule and what it has not sent yet', {
      params: Params,
      response: { 200: Done },
    }),
    async (request) => {
      await deleteRule(deps, request.params.id, requireReviewer(request));
      return DONE;
    },
  );
  app.post(
    '/api/notification-rules/preview',
    route(
      'review',
      TAG,
      'previewNotificationRule',
      'Which messages a rule would have sent in the past week; nothing is stored',
      {
        body: RuleInput,
        response: { 200: RulePreview },
      },
    ),
    async ({ body }) => await previewRule(deps, body),
  );
  app.post(
    '/api/notification-rules/:id/test',
    route('review', TAG, 'testNotificationRule', 'Send a test message of a rule now', {
      params: Params,
      response: { 200: Done },
    }),
    async (request) => {
      const { id } = request.params;
      await sendTest(
        deps,
        requireFound(await rules.find(id), `notification rule ${id}`),
        requireReviewer(request),
      );
      return DONE;
    },
  );
  registerOwnerRoutes(app, deps);
}

function registerOwnerRoutes(app: ApiApp, deps: RuleDeps): void {
  const { notificationRules: rules } = deps.stores;
  app.get(
    '/api/notification-owners',
    route(
      'review',
      TAG,
      'listNotificationOwners',
      'Where messages about the failures of owners go, and the latest changes',
      {
        querystring: z.strictObject(pageQuery),
        response: { 200: createListSchema(OwnerChannels).extend({ events: z.array(RuleEvent) }) },
      },
    ),
    async ({ query }) => ({
      ...takePage(await rules.owners(), query),
      events: await rules.events(null, LISTED),
    }),
  );
  app.post(
    '/api/notification-owners',
    route(
      'review',
      TAG,
      'setNotificationOwner',
      'Set where messages about the failures of an owner go; without any channel the owner is removed',
      {
        body: OwnerChannelsInput,
        response: { 200: Done },
      },
    ),
    async (request) => {
      await saveOwner(deps, request.body, requireReviewer(request));
      return DONE;
    },
  );
}
