import type { Build } from '../../domain/build.ts';
import { type Html, html, linkTarget } from '../html.ts';

const MARKS: Readonly<Record<Build['status'], { readonly sign: string; readonly tone: string }>> = {
  failed: { sign: '✗', tone: 'wrong' },
  passed: { sign: '✓', tone: 'good' },
  cancelled: { sign: '–', tone: 'quiet' },
  unknown: { sign: '?', tone: 'quiet' },
};

/** A status by sign, word and colour: never by colour alone. */
export function statusWord(status: Build['status']): Html {
  const { sign, tone } = MARKS[status];
  return html`<span class="${tone} status"><span aria-hidden="true">${sign}</span> ${status}</span>`;
}

/** `shop/api · ci #812 · PR 1204 fix/tax · a41f9c2 by ada`, with a link to its CI where that is a web address. */
export function buildLine(build: Build): Html {
  const { repository, pipeline, number, attempt, pullRequest, branch, commit, author } = build;
  const name = `${pipeline} #${number}${attempt > 1 ? `, attempt ${attempt}` : ''}`;
  const address = linkTarget(build.url);
  const parts = [
    repository,
    address === null ? name : html`<a href="${address}" rel="noreferrer">${name}</a>`,
    ...(pullRequest === null && branch === null ? [] : [[pullRequest === null ? '' : `PR ${pullRequest} `, branch ?? ''].join('').trim()]),
    ...(commit === null ? [] : [html`<code>${commit.slice(0, 7)}</code>${author !== null && ` by ${author}`}`]),
  ];
  return html`${parts.map((part, at) => [at > 0 && ' · ', part])}`;
}
