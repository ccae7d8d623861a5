import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { FailingTest } from '../../domain/failure.ts';
import type { PictureHead } from '../../stores/pictures.ts';
import { buildAddress, formatLogAddress, search } from '../addresses.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { type Html, html, linkTarget, type Shown } from '../html.ts';
import { IdParams, protect } from '../http.ts';
import { type ConsoleApp, route } from '../page.ts';
import type { AnswerFacts } from './facts.ts';
import { isTrace } from './recordings.ts';

const Query = z.object({ name: z.string().min(1).max(2_000) });
const HOUR_S = 3_600;

/**
 * Registers `/builds/:id/picture?name=`, which sends one picture of a build. The picture was re-encoded when
 * it was received, and the response forbids it to load, run or embed anything.
 */
export function registerPictures(app: ConsoleApp, { stores }: ConsoleDeps): void {
  app.get(
    '/builds/:id/picture',
    route('read', { params: IdParams, querystring: Query }),
    async (request, reply) => {
      const png = await stores.pictures.read(request.params.id, request.query.name);
      if (png === null)
        throw new TriageError('not-found', 'There is no such picture: retention may have deleted it.');
      protect(reply);
      return reply
        .header('content-security-policy', "default-src 'none'; sandbox")
        .header('content-type', 'image/png')
        .header('cache-control', `private, max-age=${HOUR_S}`)
        .send(Buffer.from(png));
    },
  );
}

/** The three pictures of one comparison, or a single picture. */
interface Shot {
  readonly base: string;
  readonly pictures: readonly { readonly label: string; readonly picture: PictureHead }[];
}

const SIDES = { expected: 'Expected', actual: 'Actual', diff: 'Difference' } as const;
const SIDE = /^(.*?)[-_.](expected|actual|diff)\.png$/i;
/** The number of pictures that are visible at first. A line with a count reveals the rest. */
const SHOWN = 4;
/**
 * The minimum share of the words of a test's name that the path of its picture must contain. Words with fewer
 * than three letters do not count.
 */
const ENOUGH_WORDS = 0.6;

/** Renders the pictures of the failed tests, and how recordings are opened. */
export function picturesPart(facts: AnswerFacts): Shown {
  const { pictures, recordings, contexts, build, failures } = facts;
  if (pictures.length === 0 && recordings.length === 0 && contexts.length === 0) return null;
  const tests = failures.flatMap(({ test }) => test ?? []);
  const isRelated = (name: string) => tests.some((test) => isOfTest(name, test));
  const shots = groupShots(pictures);
  const related = shots.filter((shot) => shot.pictures.some(({ picture }) => isRelated(picture.name)));
  const first = related.length > 0 ? related : shots;
  const others = shots.filter((shot) => !first.includes(shot)).concat(first.slice(SHOWN));
  const render = (shot: Shot) => renderShot(build.id, shot);
  return html`<section class="part" aria-labelledby="pictures"><h2
    id="pictures">What it looked like</h2>${first.slice(0, SHOWN).map(render)}${
      others.length > 0 &&
      html`<details><summary>${others.length} more from this build</summary>${others.map(render)}</details>`
    }${contextsNote(build.id, contexts.filter(isRelated))}${recordingsNote(recordings, build.url)}</section>`;
}

/** Groups the expected picture, the actual picture and their difference by snapshot. */
function groupShots(pictures: readonly PictureHead[]): Shot[] {
  const groups = Map.groupBy(pictures, ({ name }) => SIDE.exec(name)?.[1] ?? name);
  return [...groups].map(([base, own]) => ({
    base,
    pictures: own
      .map((picture) => {
        const side = SIDE.exec(picture.name)?.[2]?.toLowerCase() ?? '';
        return { label: SIDES[side as keyof typeof SIDES] ?? 'Screenshot', picture };
      })
      .toSorted((left, right) => rankLabel(left.label) - rankLabel(right.label)),
  }));
}

function rankLabel(label: string): number {
  return Object.values<string>(SIDES).indexOf(label);
}

/**
 * Tells whether a file belongs to a test: the test's report names the file, or the path contains the test's
 * name.
 */
export function isOfTest(
  file: string,
  { name, attachments = [] }: Pick<FailingTest, 'name' | 'attachments'>,
): boolean {
  return attachments.some((path) => isSameFile(file, path)) || isAbout(file, name);
}

/** Tells whether two paths, each relative to an unknown folder, end in the same folder and file. */
function isSameFile(left: string, right: string): boolean {
  const [first, second] = [left, right].map((path) =>
    path.split(/[\\/]/).filter((part) => part !== '' && part !== '.' && part !== '..'),
  );
  if (first === undefined || second === undefined) return false;
  const common = Math.min(2, first.length, second.length);
  return common > 0 && first.slice(-common).join('/') === second.slice(-common).join('/');
}

/** Tells whether the path of a picture contains most words of a test's name, in any format. */
function isAbout(path: string, test: string): boolean {
  const words = [...new Set(test.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [])];
  const where = path.toLowerCase();
  const found = words.filter((word) => where.includes(word)).length;
  return words.length > 0 && found / words.length >= ENOUGH_WORDS;
}

function renderShot(buildId: string, { base, pictures }: Shot): Html {
  const figures = pictures.map(({ label, picture: { name, width, height } }) => {
    const address = `${buildAddress(buildId)}/picture${search({ name })}`;
    return html`<figure><a href="${address}"><img src="${address}" width="${width}" height="${height}"
      loading="lazy" alt="${label}: ${name}"></a><figcaption class="meta">${label}</figcaption></figure>`;
  });
  return html`<div class="panel pad shots"><p class="meta mono">${base}</p><div
    class="shot-row">${figures}</div></div>`;
}

function contextsNote(buildId: string, contexts: readonly string[]): Shown {
  const links = contexts
    .slice(0, SHOWN)
    .map(
      (name, at) =>
        html`${at > 0 && ', '}<a class="mono" href="${formatLogAddress(buildId, name)}">${name}</a>`,
    );
  return links.length > 0 && html`<p class="meta">The page as text: ${links}.</p>`;
}

function recordingsNote(recordings: readonly string[], url: string | null): Shown {
  if (recordings.length === 0) return null;
  const address = linkTarget(url);
  const place = address === null ? 'your CI' : html`<a href="${address}" rel="noreferrer">your CI</a>`;
  const hasTrace = recordings.some(isTrace);
  return html`<p class="meta">Recordings are among the artifacts at ${place}: ${recordings
    .slice(0, SHOWN)
    .map((name, at) => html`${at > 0 && ', '}<span class="mono">${name}</span>`)}.${
    hasTrace && html` Open a trace with <code>npx playwright show-trace trace.zip</code>.`
  }</p>`;
}
