import { z } from 'zod';
import type { RepositoryThread } from '../domain/ask-session.ts';
import type { Turn } from '../domain/conversation.ts';
import { createGate } from '../service/ask/ask.ts';
import { formatRepositoryAskAddress, formatRepositoryThreadAddress } from './addresses.ts';
import {
  type AskedInPage,
  AT_ONCE,
  askForm,
  QUESTIONS_A_MINUTE,
  renderCitation,
  renderTurn,
  sendAnswer,
} from './ask.ts';
import { type BuildAtHost, findBuildAtHost, findCodePlace, formatCodeAddress } from './code-links.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { crumbs, renderTime } from './controls.ts';
import { type Html, html } from './html.ts';
import { WordsOrNone } from './http.ts';
import { answerPage, type ConsoleApp, route } from './page.ts';

const Query = z.object({ repo: WordsOrNone, question: WordsOrNone });
const ThreadParams = z.object({ thread: z.string().min(1).max(100) });
const Body = z.object({
  question: z.string().max(10_000),
  repository: z.string().max(300),
  thread: z.string().max(100).optional(),
});
const BUILDS_LINK = html`<a href="/builds">Builds</a>`;
/** The maximum number of repositories that are offered, and of earlier questions that are listed. */
const MAX_OFFERED = 200;
const MAX_LISTED = 20;

/** Registers `/ask`, the questions about repositories without a failure. */
export function registerRepositoryAskPages(app: ConsoleApp, deps: ConsoleDeps): void {
  const gate = createGate(AT_ONCE);
  const { repositoryAsk: ask } = deps;
  app.get('/ask', route('read', { querystring: Query }), async (request, reply) => {
    const { repo: repository, question } = request.query;
    const page = { limit: MAX_LISTED, offset: 0 };
    const [known, threads] = await Promise.all([
      ask.repositories({ words: '' }, MAX_OFFERED),
      ask.threads(repository === undefined ? {} : { repository }, page),
    ]);
    const main = renderAskPage({ known, threads, repository, question, byRules: ask.byRules });
    const top = crumbs([BUILDS_LINK, 'Ask about a repository']);
    return answerPage(request, reply, deps, { title: 'Ask about a repository', part: 'builds', top, main });
  });
  app.get('/ask/:thread', route('read', { params: ThreadParams }), async (request, reply) => {
    const { thread, turns } = await ask.thread(request.params.thread);
    const { repository, title } = thread;
    const build = await findBuildAtHost(deps.stores, repository);
    const top = crumbs([
      BUILDS_LINK,
      html`<a href="${formatRepositoryAskAddress(repository)}">Ask about ${repository}</a>`,
    ]);
    const main = renderThread(thread, turns, build);
    return answerPage(request, reply, deps, { title, part: 'builds', top, main });
  });
  const config = {
    access: { role: 'read' },
    rateLimit: { max: QUESTIONS_A_MINUTE, timeWindow: 60_000 },
  } as const;
  app.post('/ask', { config, schema: { body: Body } }, async (request, reply) => {
    const { question, repository, thread } = request.body;
    const askedBy = request.principal?.name ?? '';
    const opened = await ask.open({ repository, question, threadId: thread, askedBy });
    const asked: AskedInPage = {
      answer: (watcher, signal) => ask.answer(opened, watcher, signal),
      address: formatRepositoryThreadAddress(opened.thread.id),
    };
    return await sendAnswer(asked, request, reply, gate.enter());
  });
}

interface AskPage {
  readonly known: readonly string[];
  readonly threads: readonly RepositoryThread[];
  readonly repository: string | undefined;
  /** The question with which the form is filled. */
  readonly question: string | undefined;
  readonly byRules: boolean;
}

const EXAMPLES =
  'No model is configured. Without one, these are answered: What is this project? How is it structured? ' +
  'What is it built with? Where is X? What does X do? What calls X? Who changed X? How does X work? ' +
  'What does a file define? Compare X with Y.';

function renderAskPage({ known, threads, repository, question, byRules }: AskPage): Html {
  const asked = threads.length > 0 && renderThreads(threads);
  if (known.length === 0)
    return html`<h1 tabindex="-1">No repository can be asked about</h1>
      <p>Code is read from the code host of a repository with builds, or from a clone that
      <code>FAULTLINE_CLONES</code> names. There is none yet, or your token covers none.</p>${asked}`;
  const choice = html`<p><label for="repository">Repository</label><input id="repository" name="repository"
    list="repositories" required maxlength="300" autocomplete="off" value="${repository ?? known[0]}"></p>
    <datalist id="repositories">${known.map((name) => html`<option value="${name}"></option>`)}</datalist>`;
  return html`<h1 tabindex="-1">Ask about ${repository ?? 'a repository'}</h1>
    <p class="quiet">The code is read at its newest commit, and answers name files and lines.</p>
    ${byRules && html`<p class="quiet">${EXAMPLES}</p>`}
    ${askForm('/ask', {}, choice, question)}${asked}`;
}

function renderThreads(threads: readonly RepositoryThread[]): Html {
  return html`<h2>Earlier questions</h2><ul>${threads.map(
    ({ id, title, repository, startedBy, lastAskedAt }) =>
      html`<li><a href="${formatRepositoryThreadAddress(id)}">${title}</a>
        <span class="quiet">${repository}, by ${startedBy}, ${renderTime(lastAskedAt)}</span></li>`,
  )}</ul>`;
}

function renderThread(
  { id, repository }: RepositoryThread,
  turns: readonly Turn[],
  build: BuildAtHost | null,
): Html {
  const known = new Map(turns.flatMap(({ evidence }) => evidence.map((item) => [item.id, item])));
  return html`<h1 tabindex="-1">About ${repository}</h1>
    <div id="turns">${turns.map((turn) =>
      renderTurn(turn, (cited) => {
        const finding = known.get(cited.id);
        const place = finding === undefined ? null : findCodePlace(finding);
        const address = place === null || build === null ? null : formatCodeAddress(build, place);
        return renderCitation(cited, address, finding?.text);
      }),
    )}</div>
    ${askForm('/ask', { repository, thread: id })}`;
}
