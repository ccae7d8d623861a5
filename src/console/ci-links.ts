import { type Build, CI_SYSTEMS } from '../domain/build.ts';
import type { Principal } from '../domain/review.ts';
import { findBuild } from '../service/answers/views.ts';
import { canRerun, rerunFailedJobs } from '../service/rerun.ts';
import { requireReviewer } from '../service/review/queue.ts';
import type { Rerun } from '../stores/ci-links.ts';
import { buildAddress } from './addresses.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { formatAge, postForm } from './controls.ts';
import { type Html, html, linkTarget, type Shown } from './html.ts';
import { IdParams } from './http.ts';
import { type ConsoleApp, mayReview, route } from './page.ts';

/** Returns the name of a build's CI system. */
export function getCiName({ provider }: Pick<Build, 'provider'>): string {
  return provider === 'upload' ? 'its CI' : CI_SYSTEMS[provider].label;
}

/** Lists all CI systems that can send webhooks, for a sentence: "GitHub, Gitea, or Jenkins". */
export function nameEveryCi(): string {
  const labels = Object.values(CI_SYSTEMS).map(({ label }) => label);
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(labels);
}

/**
 * Renders a link such as "Open in GitLab". It leads to a line if the page supports that. Returns null if no
 * page is known.
 */
export function logPageLink(
  build: Pick<Build, 'provider'>,
  page: string | undefined,
  line?: number,
  look: Shown = null,
): Html | null {
  const anchor = page?.lastIndexOf('#') ?? -1;
  const bare = anchor >= 0 && page?.includes('{line}', anchor) === true ? page.slice(0, anchor) : page;
  const target = linkTarget((line === undefined ? bare : page?.replace('{line}', String(line))) ?? null);
  if (target === null) return null;
  const at = line !== undefined && page?.includes('{line}') === true && html` at line ${line}`;
  return html`<a${look} href="${target}" rel="noreferrer">Open in ${getCiName(build)}${at}</a>`;
}

/**
 * Returns the address that opens a file of a repository in a user's editor. Returns null if no editor is set
 * or if the path is outside of a repository.
 */
export function formatEditorAddress(
  template: string,
  {
    path,
    line,
    repository,
  }: { readonly path: string; readonly line: number | null | undefined; readonly repository: string },
): string | null {
  const isPlain = (text: string) =>
    text.split('/').every((part) => part !== '' && part !== '.' && part !== '..') && !/[\\\0]/.test(text);
  if (template === '' || !isPlain(path) || !isPlain(repository)) return null;
  const encoded = (text: string) => text.split('/').map(encodeURIComponent).join('/');
  const values: Readonly<Record<string, string>> = {
    path: encoded(path),
    line: String(line ?? 1),
    repository: encoded(repository),
    name: encodeURIComponent(repository.split('/').at(-1) ?? ''),
  };
  return template.replace(/\{(path|line|repository|name)\}/g, (_, field: string) => values[field] ?? '');
}

/** Registers `POST /builds/:id/rerun`, which asks the CI system to rerun the failed jobs. */
export function registerRerun(app: ConsoleApp, deps: ConsoleDeps): void {
  app.post('/builds/:id/rerun', route('review', { params: IdParams }), async (request, reply) => {
    const build = await findBuild(deps.stores.builds, request.params.id, {});
    await rerunFailedJobs(deps, build, requireReviewer(request));
    return reply.redirect(`${buildAddress(build.id)}#rerun`, 303);
  });
}

/**
 * Renders the rerun requests that were sent to a build's CI system. If reruns are configured, also renders a
 * form to rerun the failed jobs, which asks for confirmation.
 */
export function rerunPart(
  build: Build,
  reruns: readonly Rerun[],
  principal: Principal | null,
  deps: ConsoleDeps,
): Html {
  const offers = mayReview(principal) && canRerun(build, deps.providers);
  const ci = getCiName(build);
  const items = reruns.map(({ by, at, outcome, error }) => {
    const states = { asked: 'waiting for its answer', done: 'accepted', failed: `failed. ${error}` };
    return html`<li>${by} asked ${ci} ${formatAge(at, deps.clock.now())} ago to re-run the failed jobs:
      <span class="${outcome === 'failed' && 'is-red'}">${states[outcome]}</span></li>`;
  });
  const form = html`<details><summary>Re-run failed jobs</summary>
    <p>${ci} runs the failed jobs of ${build.pipeline} #${build.number}
    again, on the same commit. What they do outside, such as a deployment, happens again.</p>
    ${postForm(`${buildAddress(build.id)}/rerun`, {}, html`<button>Re-run now</button>`)}</details>`;
  return html`<div id="rerun" data-live>${offers && form}${
    items.length > 0 && html`<ul class="past">${items}</ul>`
  }</div>`;
}
