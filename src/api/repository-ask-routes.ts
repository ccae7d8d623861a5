import { z } from 'zod';
import type { Scoped } from '../domain/access.ts';
import { omitUndefined } from '../lib/collections.ts';
import { takePage, toPage } from '../ports/database.ts';
import type { Logger } from '../ports/telemetry.ts';
import { createGate } from '../service/ask/ask.ts';
import type { RepositoryAsk } from '../service/ask/ask-repository.ts';
import {
  RepositoryList,
  RepositoryListQuery,
  RepositoryThreadList,
  RepositoryThreadsQuery,
  RepositoryThreadView,
} from '../service/ask/views.ts';
import { AT_ONCE, registerAsk, requireOwner, requirePrincipal } from './ask-routes.ts';
import { type ApiApp, route } from './route.ts';

interface RepositoryAskDeps {
  readonly repositoryAsk: Scoped<RepositoryAsk>;
  readonly logger: Logger;
}

const Repository = z.object({
  id: z.string().min(1).max(300).describe('Name of the repository, owner%2Fname'),
});
const Thread = z.object({ id: z.string().min(1).max(100) });

const DESCRIPTION =
  'Answers a question about the code of a repository at its newest commit, without a failure. The ' +
  'repository has builds or a configured clone, and is in the scope of the token; nothing is cloned. ';

/** Registers the routes for questions about a repository without a failure, and for their threads. */
export function registerRepositoryAskRoutes(app: ApiApp, deps: RepositoryAskDeps): void {
  const { repositoryAsk: ask } = deps;
  app.get(
    '/api/repositories',
    route('read', 'Ask', 'listRepositories', 'List the repositories that can be asked about', {
      querystring: RepositoryListQuery,
      response: { 200: RepositoryList },
    }),
    async ({ query: { words, limit, offset } }) => {
      const found = await ask.repositories({ words }, offset + limit);
      return takePage(
        found.map((repository) => ({ repository })),
        { limit, offset },
      );
    },
  );
  registerAsk(app, deps, createGate(AT_ONCE), {
    url: '/api/repositories/:id/ask',
    operationId: 'askAboutRepository',
    summary: 'Ask about a repository',
    description: DESCRIPTION,
    params: Repository,
    open: async (repository, { question, thread }, askedBy) => {
      const opened = await ask.open({ repository, question, threadId: thread, askedBy });
      return {
        threadId: opened.thread.id,
        answer: (watcher, signal) => ask.answer(opened, watcher, signal),
      };
    },
  });
  registerThreads(app, ask);
}

function registerThreads(app: ApiApp, ask: Scoped<RepositoryAsk>): void {
  app.get(
    '/api/repository-threads',
    route('read', 'Ask', 'listRepositoryThreads', 'List threads about repositories, newest question first', {
      querystring: RepositoryThreadsQuery,
      response: { 200: RepositoryThreadList },
    }),
    async ({ query: { repository, limit, offset } }) => {
      return toPage(await ask.threads(omitUndefined({ repository }), { limit, offset }), { limit, offset });
    },
  );
  app.get(
    '/api/repository-threads/:id',
    route('read', 'Ask', 'getRepositoryThread', 'Get a thread about a repository', {
      params: Thread,
      response: { 200: RepositoryThreadView },
    }),
    async ({ params: { id } }) => {
      const { thread, turns } = await ask.thread(id);
      return { thread, turns: [...turns] };
    },
  );
  app.delete(
    '/api/repository-threads/:id',
    route('read', 'Ask', 'deleteRepositoryThread', 'Delete a thread that you started', {
      params: Thread,
      response: { 204: z.null() },
    }),
    async (request, reply) => {
      const { thread } = await ask.thread(request.params.id);
      requireOwner(thread, requirePrincipal(request));
      await ask.forget(thread.id);
      return reply.code(204).send(null);
    },
  );
}
