import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { NoticeSender } from '../channels/channel.ts';
import { type FixAttempt, findSuggestedFix } from '../domain/experiment.ts';
import { getFenceAround, toInline } from '../notifications/visible-text.ts';
import { decideWhatToSay } from '../notifications/what-to-say.ts';
import type { Situation } from '../ports/notices.ts';
import { findOrNull } from './code-questions.ts';
import { type CommentThread, getPullRequest, listOwnComments, type PostedComment } from './comments.ts';
import { splitFilesOfDiff } from './patches.ts';

/** The replacement of lines of a file. */
export const Replacement = z.object({
  path: z.string(),
  /** The first replaced line, 1-based. */
  from: z.int(),
  before: z.array(z.string()),
  after: z.array(z.string()),
});
export type Replacement = z.infer<typeof Replacement>;

/** A change that was tried and that fixes a cause. */
export interface Suggestion extends Replacement {
  /** The stable name of the cause; letters and digits. */
  readonly cause: string;
  /** The description and result of the change, as Markdown. */
  readonly text: string;
}

export interface Suggestions {
  readonly suggestions: readonly Suggestion[];
}

const MAX_SUGGESTIONS = 10;
const MAX_LINES = 50;
const MAX_CHARACTERS = 10_000;

/**
 * Returns the suggestions for a pull request: for each cause, the requested change that was tried and fixes
 * it. Null while the result is not
 * known; existing suggestions then stay.
 */
export function renderSuggestions(situation: Situation): Suggestions | null {
  const toSay = decideWhatToSay(situation);
  if (toSay === null || toSay.state === 'looking') return null;
  const causes = toSay.state === 'answered' ? toSay.causes.filter(({ form }) => form !== 'rejected') : [];
  const suggestions = causes.flatMap(({ cause: { analysis } }) => {
    const fix = findSuggestedFix(analysis.experiment);
    const replacement = fix === null ? null : findReplacement(fix.diff);
    if (fix === null || replacement === null) return [];
    const cause = createHash('sha256').update(analysis.fingerprint).digest('hex').slice(0, 16);
    return [{ cause, ...replacement, text: formatText(fix) }];
  });
  return {
    suggestions: [...new Map(suggestions.map((suggestion) => [suggestion.cause, suggestion])).values()].slice(
      0,
      MAX_SUGGESTIONS,
    ),
  };
}

function formatText({ sentence }: FixAttempt): string {
  return `**Faultline tried this change.** ${toInline(sentence)} It says whether the tests pass, not whether the change is right.`;
}

/**
 * Characters that a browser would interpret or hide. A change with one of them is shown only as a diff in
 * which the character is spelled out.
 */
const UNSEEN = /(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/u;

/**
 * Returns the change as one replacement of consecutive lines; null if that is not possible, or if it is too
 * large or contains invisible characters.
 */
export function findReplacement(diff: string): Replacement | null {
  const [file, ...others] = splitFilesOfDiff(diff);
  if (file === undefined || others.length > 0 || file.status !== 'modified' || file.patch === null)
    return null;
  const [head = '', ...lines] = file.patch.split('\n');
  const [, start] = /^@@ -(\d{1,9})(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@/.exec(head) ?? [];
  if (start === undefined || lines.some((line) => !/^[-+ ]/.test(line))) return null;
  const isChange = (line: string) => !line.startsWith(' ');
  let [first, last] = [lines.findIndex(isChange), lines.findLastIndex(isChange)];
  // A pure addition needs a neighboring line that the suggestion can replace.
  if (lines.slice(first, last + 1).every((line) => line.startsWith('+'))) {
    if (first > 0) first -= 1;
    else last += 1;
  }
  const range = lines.slice(first, last + 1);
  const side = (mark: '-' | '+') =>
    range.filter((line) => line.startsWith(mark) || !isChange(line)).map((line) => line.slice(1));
  const [before, after] = [side('-'), side('+')];
  const above = lines.slice(0, first).filter((line) => !line.startsWith('+')).length;
  if (
    before.length === 0 ||
    Math.max(before.length, after.length) > MAX_LINES ||
    range.join('\n').length > MAX_CHARACTERS
  )
    return null;
  return after.some((line) => UNSEEN.test(line))
    ? null
    : { path: file.path, from: Number(start) + above, before, after };
}

/**
 * The position of a suggestion in the diff of a pull request. Lines are 1-based, and the last one is
 * included.
 */
export interface SuggestionPlace {
  readonly path: string;
  readonly from: number;
  readonly to: number;
  /** Number of the last line before the pull request; null if the pull request adds it. */
  readonly oldTo: number | null;
}

/** A comment at a line of the diff; `line` is null if that is no longer there. */
export interface PlacedComment extends PostedComment {
  readonly path: string | null;
  readonly line: number | null;
}

/** The comments at lines of one pull request. Throws as `NoticeSender` does. */
export interface SuggestionThread extends Omit<CommentThread<PlacedComment>, 'create'> {
  /** Returns the current changes of the pull request: the hunks of each file by its path. */
  patches(): Promise<ReadonlyMap<string, string>>;
  create(place: SuggestionPlace, body: string): Promise<unknown>;
}

export interface SuggestionOptions {
  /** Returns the info string of the code fence that makes it a suggestion, for a given number of lines. */
  readonly fenceWord: (lines: number) => string;
  open(repository: string, pullRequest: number, signal: AbortSignal): Promise<SuggestionThread>;
}

/**
 * Keeps one comment with a suggestion for each cause. It is created if the diff of the pull request contains
 * the lines as the change expects
 * them, edited in place, and removed once it is superseded. A developer may commit the suggestion; nothing is
 * pushed.
 */
export function createSuggestionClient(options: SuggestionOptions): NoticeSender<Suggestions> {
  return {
    send: async ({ suggestions }, call) => {
      const pullRequest = getPullRequest(call);
      const sent = { reference: `${pullRequest}` };
      if (suggestions.length === 0 && call.reference === null) return sent;
      const thread = await options.open(call.to.repository, pullRequest, call.signal);
      const left = new Set<PlacedComment>();
      for await (const comment of listOwnComments(thread, MARKER)) left.add(comment);
      const patches = suggestions.length === 0 ? new Map<string, string>() : await thread.patches();
      for (const suggestion of suggestions) {
        const place = placeIn(patches.get(suggestion.path) ?? '', suggestion);
        if (place === null) continue;
        const body = formatBody(suggestion, options);
        const known = [...left].find(
          (placedComment) =>
            isAt(placedComment, place) && placedComment.body?.startsWith(createMarker(suggestion.cause)),
        );
        if (known === undefined) await thread.create(place, body);
        else if (known.body?.trim() !== body.trim()) await thread.edit(known.id, body);
        if (known !== undefined) left.delete(known);
      }
      for (const { id } of left) await findOrNull(thread.remove(id));
      return sent;
    },
  };
}

const MARKER = '<!-- faultline:v1 suggestion=';

function createMarker(cause: string): string {
  return `${MARKER}${cause} -->`;
}

function isAt({ path, line }: PlacedComment, place: SuggestionPlace): boolean {
  return path === place.path && line === place.to;
}

/** Finds the position of the exact lines in these hunks. Returns null if they do not occur. */
export function placeIn(patch: string, { path, from, before }: Replacement): SuggestionPlace | null {
  const now = readNewLines(patch);
  const to = from + before.length - 1;
  const last = now.get(to);
  if (last === undefined || before.some((text, at) => now.get(from + at)?.text !== text)) return null;
  return { path, from, to, oldTo: last.old };
}

/** Returns the lines that exist after the patch, by number. */
function readNewLines(patch: string): Map<number, { readonly text: string; readonly old: number | null }> {
  const lines = new Map<number, { readonly text: string; readonly old: number | null }>();
  let [old, now] = [0, 0];
  for (const line of patch.split('\n')) {
    const [, oldStart, newStart] = /^@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@/.exec(line) ?? [];
    if (newStart !== undefined) [old, now] = [Number(oldStart), Number(newStart)];
    else if (line.startsWith('-')) old += 1;
    else if (line.startsWith('+')) lines.set(now++, { text: line.slice(1), old: null });
    else if (line.startsWith(' ')) lines.set(now++, { text: line.slice(1), old: old++ });
  }
  return lines;
}

function formatBody({ cause, text, before, after }: Suggestion, { fenceWord }: SuggestionOptions): string {
  const ticks = getFenceAround(after.join('\n'));
  // The replaced lines must be exactly those that were tried.
  return [createMarker(cause), text, '', ticks + fenceWord(before.length), ...after, ticks, ''].join('\n');
}
