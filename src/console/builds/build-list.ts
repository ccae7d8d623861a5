import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type Build, BuildStatus } from '../../domain/build.ts';
import type { AnalysisHead } from '../../ports/stores.ts';
import { percent } from '../../publish/answer-facts.ts';
import { analysisAddress, buildAddress } from '../addresses.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { ageOf } from '../controls.ts';
import { type Html, html } from '../html.ts';
import { sendPage } from '../page.ts';
import { readerOf } from '../reader.ts';
import { statusWord } from './build-words.ts';

const PAGE = 50;
const text = z.string().trim().max(300).catch('').default('');

const Query = z.object({
  repository: text,
  branch: text,
  number: text,
  status: BuildStatus.or(z.literal('')).catch('').default(''),
  offset: z.coerce.number().int().min(0).max(1_000_000).catch(0).default(0),
});
type Query = z.infer<typeof Query>;

/** `/builds`: what came in, newest first, with the causes that were found. */
export function registerBuildList(app: FastifyInstance, deps: ConsoleDeps): void {
  const config = { access: { role: 'read' } } as const;
  app.withTypeProvider<ZodTypeProvider>().get('/builds', { config, schema: { querystring: Query } }, async (request, reply) => {
    const { query } = request;
    const filter = Object.fromEntries(
      (['repository', 'branch', 'number', 'status'] as const).filter((name) => query[name] !== '').map((name) => [name, query[name]]),
    );
    const builds = await deps.stores.builds.list(filter, { limit: PAGE, offset: query.offset });
    const heads = await deps.stores.analyses.heads(builds.map(({ id }) => id));
    const main = html`<h1 tabindex="-1">Builds</h1>${filters(query)}${listOf(builds, heads, query, deps.clock.now())}`;
    return sendPage(request, reply, { title: 'Builds', place: 'page', part: 'builds', main }, await readerOf(request, deps));
  });
}

function filters({ repository, branch, number, status }: Query): Html {
  const statuses = ['', ...BuildStatus.options].map(
    (one) => html`<option value="${one}"${one === status && html` selected`}>${one === '' ? 'any' : one}</option>`,
  );
  return html`<form class="filters" role="search" aria-label="Builds"><label>repository <input name="repository" value="${repository}" data-action="search"></label>
<label>branch <input name="branch" value="${branch}"></label><label>number <input name="number" value="${number}" size="8"></label>
<label>status <select name="status">${statuses}</select></label><button>Filter</button></form>`;
}

function listOf(builds: readonly Build[], heads: readonly AnalysisHead[], query: Query, now: number): Html {
  if (builds.length === 0) return nothing(query);
  const rows = builds.map((build) => {
    const causes = heads.filter(({ buildId }) => buildId === build.id);
    return html`<tr><td>${statusWord(build.status)}</td>
<td><a href="${buildAddress(build.id)}">${build.repository} · ${build.pipeline} #${build.number}${build.attempt > 1 && `, attempt ${build.attempt}`}</a><br><span class="quiet">${build.branch}${build.commit !== null && html` <code>${build.commit.slice(0, 7)}</code>`}${build.author !== null && ` by ${build.author}`}</span></td>
<td>${causes.length === 0 ? build.status === 'failed' && html`<span class="quiet">no analysis yet</span>` : html`<ul class="plain">${causes.map(causeLine)}</ul>`}</td>
<td class="quiet"><time datetime="${build.receivedAt}" title="${build.receivedAt}">${ageOf(build.receivedAt, now)}</time></td></tr>`;
  });
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Builds, newest first"><table class="listed"><thead><tr><th scope="col">Status</th><th scope="col">Build</th><th scope="col">Causes</th><th scope="col">Age</th></tr></thead><tbody>${rows}</tbody></table></div>
${pager(query, builds.length)}`;
}

function causeLine({ id, category, title, confidence, action, decided }: AnalysisHead): Html {
  const standing = decided
    ? 'decided by a reviewer'
    : action === 'auto_notify'
      ? percent(confidence)
      : `${percent(confidence)}, sent for review`;
  return html`<li><a href="${analysisAddress(id)}">${title}</a> <span class="quiet"><span class="category">${category ?? 'not analyzed'}</span>, ${standing}</span></li>`;
}

function nothing({ repository, branch, number, status }: Query): Html {
  const given = Object.entries({ repository, branch, number, status }).filter(([, value]) => value !== '');
  if (given.length > 0)
    return html`<p>No build matches ${given.map(([name, value]) => `${name}:${value}`).join(' ')}. <a class="button" href="/builds">Clear filters</a></p>`;
  return html`<p>No builds yet. Send webhooks to <code>/webhooks/github</code> or <code>/webhooks/jenkins</code>, or upload a log with <code>POST /api/builds</code>.</p>`;
}

function pager(query: Query, shown: number): Html {
  const at = (offset: number) => {
    const search = new URLSearchParams(Object.entries({ ...query, offset: String(offset) }).filter(([, value]) => value !== ''));
    return `/builds?${search.toString()}`;
  };
  return html`<nav class="pages" aria-label="Pages">${query.offset > 0 && html`<a rel="prev" href="${at(Math.max(0, query.offset - PAGE))}">Newer</a>`}
${shown === PAGE && html`<a rel="next" href="${at(query.offset + PAGE)}">Older</a>`}</nav>`;
}
