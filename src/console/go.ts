import { z } from 'zod';
import { nameCategory } from '../domain/category-words.ts';
import { buildAddress, formatCauseAddress, search } from './addresses.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { type Html, html } from './html.ts';
import { Words } from './http.ts';
import { testAddress } from './insights/test-page.ts';
import { type ConsoleApp, route, sendHtml } from './page.ts';
import { formatScopedAddress } from './scope.ts';

/** A page that matches the typed text. */
export interface FoundPlace {
  readonly words: string;
  readonly kind: string;
  readonly address: string;
  /** True if its name equals the typed text, and is not only similar. */
  readonly isExact: boolean;
}

/** The maximum number of pages of each kind. */
const OF_EACH = 4;
/** The minimum length of the text. Shorter texts match too much. */
const MIN_WORDS = 2;
/** The words with which a question begins, or its end. */
const QUESTION = /^(?:how|what|where|who|why|which|when|compare|explain) .|\?$/i;

/** Registers `/go?q=`: links to the builds, repositories, tests and causes that match the typed text. */
export function registerGo(app: ConsoleApp, deps: ConsoleDeps): void {
  const options = route('read', { querystring: z.object({ q: Words }) });
  app.get('/go', options, async (request, reply) =>
    sendHtml(request, reply, placeList(await findPlaces(deps, request.query.q))),
  );
}

/** Renders links to places, each with its kind. */
export function placeList(places: readonly FoundPlace[]): Html {
  return html`<ul class="flow">${places.map(
    ({ words, kind, address, isExact }) =>
      html`<li><a href="${address}"${isExact && html` data-exact`}>${words}<span
        class="meta"> ${kind}</span></a></li>`,
  )}</ul>`;
}

/**
 * Finds the builds with this number or address, and the repositories, tests and causes that contain the
 * words.
 */
export async function findPlaces({ stores }: ConsoleDeps, words: string): Promise<FoundPlace[]> {
  if (words.length < MIN_WORDS) return [];
  const page = { limit: OF_EACH, offset: 0 };
  const number = /^#?(\d{1,18})$/.exec(words)?.[1];
  const isUrl = /^https?:\/\//.test(words);
  const [builds, repositories, tests, causes] = await Promise.all([
    number !== undefined || isUrl
      ? stores.builds.list(isUrl ? { urls: [words.slice(0, 1_000)] } : { run: number ?? '' }, page)
      : [],
    isUrl ? [] : stores.builds.repositories({ words }, OF_EACH),
    isUrl ? [] : stores.flakiness.find({ words }, OF_EACH),
    isUrl ? [] : stores.causes.list({ list: 'open', assignee: '', words }, page),
  ]);
  return [
    ...builds.map(({ id, repository, pipeline, number }) => ({
      words: `${repository} ${pipeline} #${number}`,
      kind: 'build',
      address: buildAddress(id),
      isExact: builds.length === 1,
    })),
    ...repositories.map((repo) => ({
      words: repo,
      kind: 'repository',
      address: formatScopedAddress('/builds', { repo }),
      isExact: repo.toLowerCase() === words.toLowerCase(),
    })),
    ...causes.map(({ fingerprint, title, category, repository }) => ({
      words: title === '' ? fingerprint : title,
      kind: `${nameCategory(category).toLowerCase()}, ${repository}`,
      address: formatCauseAddress(fingerprint),
      isExact: false,
    })),
    ...tests.map((test) => ({
      words: `“${test.name}”`,
      kind: `test, ${test.repository}`,
      address: testAddress(test),
      isExact: test.name.toLowerCase() === words.toLowerCase(),
    })),
    ...(QUESTION.test(words) ? [createQuestionPlace(words)] : []),
  ];
}

/** Offers to ask a repository what was typed. */
function createQuestionPlace(words: string): FoundPlace {
  const address = `/ask${search({ question: words })}`;
  return { words: `Ask: ${words}`, kind: 'question about a repository', address, isExact: false };
}
