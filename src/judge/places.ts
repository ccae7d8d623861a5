import type { TriageSubject } from '../domain/triage.ts';
import { namedPaths } from '../lib/text.ts';
import { stripEscapes } from '../log/lines/clean.ts';
import { type OwnFrame, ownFramesOf, type Project, projectOf, tracesOf } from './own-frames.ts';
import { isForeignPath, isTestClass, pathIn } from './paths.ts';
import { toolName } from './quotes.ts';
import { namedClasses, type TestedFiles, testedFilesOf } from './tested-files.ts';
import { likeness, wordsIn } from './wording.ts';

/** A file of the project that the failure names, with its line where known. */
export interface Place {
  readonly path: string;
  readonly line: number | null;
  readonly from: 'diagnostic' | 'frame' | 'test';
  /** 0..1. */
  readonly score: number;
  readonly reason: string;
}

const MAX_TRACES = 20;
const MAX_FRAME_FILES = 8;
const DIAGNOSED = 0.95;
const OWN_FRAME = 0.8;
const TWIN = 0.6;
const TWIN_IN_TRACE = 0.08;
const NAMED_ALIKE = 0.1;
const TEST_FILE = 0.45;
/** What a message names is what the failure is about: beside a frame in the middle, just below the twin. */
const IN_MESSAGE = 0.59;
const GUESS = 0.3;
const LOGGED = 0.4;
const [MAX_TOLD, MAX_LOGGED] = [5, 5];
/** Where runners and tools keep what is theirs. */
const OUTSIDE = /^(?:~|\/(?:tmp|etc|var|dev|proc|root|opt|bin|sbin|lib)\/|\$)|(?:^|\/)_temp\/|^actions\//;
/** Of names without a folder those that are likely to be one file of the project: frames and products (Node.js) are called so too. */
const BARE = /\.(?:json|toml|ya?ml|xml|gradle|kts|cmake)$/;
const FADE = 0.92;

/** Files the failure names, most suspicious first; one entry a file, under the longest path that the log gives it. */
export function placesOf(subject: TriageSubject): readonly Place[] {
  const project = projectOf(subject);
  const tested = testedFilesOf(subject, project);
  const named = [...diagnosedPlaces(subject, project), ...framePlaces(subject, project, tested)];
  const found = mergeFiles([...named, ...messagePlaces(subject, project), ...testPlaces(tested, named)]);
  const logged = loggedPlaces(subject, project).filter(
    ({ path }) => !found.some((one) => isSameFile(one.path, path) || one.path.endsWith(` ${path}`)),
  );
  return [...found, ...mergeFiles(logged)].sort((left, right) => right.score - left.score);
}

/** Whether two paths may be one file: equal, or one the other's ending. */
export function isSameFile(left: string, right: string): boolean {
  return left === right || left.endsWith(`/${right}`) || right.endsWith(`/${left}`);
}

function diagnosedPlaces(subject: TriageSubject, project: Project): Place[] {
  const errors = subject.diagnostics.filter((entry) => entry.severity === 'error' && entry.tool !== 'make').slice(0, 20);
  return errors.flatMap((entry, rank) => {
    if (entry.file === null || isForeignPath(entry.file)) return [];
    const reason = `${toolName(entry)} names it`;
    return [{ path: pathIn(entry.file, project), line: entry.line, from: 'diagnostic' as const, score: fade(DIAGNOSED, rank), reason }];
  });
}

function framePlaces(subject: TriageSubject, project: Project, tested: readonly TestedFiles[]): Place[] {
  const words = wordsIn(tested.map(({ name, file }) => `${file.split(/[\\/]/).at(-1)} ${name}`).join(' '));
  return tracesOf(subject)
    .slice(0, MAX_TRACES)
    .flatMap((frames, trace) => {
      const own = ownFramesOf(frames, project);
      return [
        ...rankedFiles(own.filter(({ isTest, onlyReports }) => !isTest && !onlyReports)),
        ...rankedFiles(own.filter(({ isTest, onlyReports }) => !isTest && onlyReports)).map((one) => ({ ...one, rank: one.rank + 4 })),
        ...rankedFiles(own.filter(({ isTest }) => isTest)),
      ].map(({ path, line, isTest, rank }) => {
        const alike = isTest ? 0 : NAMED_ALIKE * likeness(path, words);
        const score = round(Math.min(0.99, fade(isTest ? TEST_FILE : OWN_FRAME, trace + rank) + alike));
        return { path, line, from: 'frame' as const, score, reason: frameReason(isTest, rank) };
      });
    });
}

function frameReason(isTest: boolean, rank: number): string {
  if (isTest) return 'contains the failing test';
  return rank === 0 ? 'innermost project frame in the stack trace' : 'in the stack trace';
}

function messagePlaces(subject: TriageSubject, project: Project): Place[] {
  const reason = 'the message names its class';
  return namedClasses(subject, project).map((path, rank) => ({ path, line: null, from: 'frame', score: fade(IN_MESSAGE, rank), reason }));
}

/** Paths that stand in the lines that tell most, or in the name of the failed step: named, and not as the place of the error. */
function loggedPlaces(subject: TriageSubject, project: Project): Place[] {
  const told = subject.messages.slice(0, MAX_TOLD).map(({ text }) => text);
  const heaviest = [...subject.excerpts].sort((left, right) => right.weight - left.weight).slice(0, MAX_TOLD);
  const texts = [...told, ...subject.failedSections.map(({ name }) => name), ...heaviest.map(({ text }) => text)];
  const paths = namedPaths(texts.map(stripEscapes))
    .filter(({ path }) => !isForeignPath(path) && !OUTSIDE.test(path) && (path.includes('/') || BARE.test(path)))
    .map(({ path, line }) => ({ path: pathIn(path, project), line }));
  const distinct = paths.filter(({ path }, at) => !path.startsWith('/') && paths.findIndex((one) => one.path === path) === at);
  return distinct.slice(0, MAX_LOGGED).map(({ path, line }, rank) => {
    return { path, line, from: 'frame', score: fade(LOGGED, rank), reason: 'the log names it' };
  });
}

/** One entry a file, at its deepest frame. */
function rankedFiles(frames: readonly OwnFrame[]): (OwnFrame & { rank: number })[] {
  const first = frames.filter(({ path }, at) => frames.findIndex((one) => one.path === path) === at);
  return first.slice(0, MAX_FRAME_FILES).map((frame, rank) => ({ ...frame, rank }));
}

/** A twin without its folder adds nothing where the log names a file of that name. */
function testPlaces(tested: readonly TestedFiles[], named: readonly Place[]): Place[] {
  return tested.flatMap(({ name, file, line, twin, guesses }, rank) => {
    const itself = { path: file, line, from: 'test' as const, score: fade(TEST_FILE, rank), reason: 'contains the failing test' };
    const guessed = guesses.map((path, at) => {
      return { path, line: null, from: 'test' as const, score: fade(GUESS, rank + at), reason: `${name} may test it, judging by its name` };
    });
    if (twin === null || isTestClass(twin.split('/').at(-1)?.replace(/\..*$/, '') ?? '')) return [itself, ...guessed];
    const traced = named.find((one) => isSameFile(one.path, twin) && one.path !== file);
    const score = traced === undefined ? fade(TWIN, rank) : round(Math.min(0.99, traced.score + TWIN_IN_TRACE));
    return [itself, { path: twin, line: null, from: 'test' as const, score, reason: `${name} tests it, judging by its name` }, ...guessed];
  });
}

function mergeFiles(places: readonly Place[]): Place[] {
  const merged: Place[] = [];
  for (const place of places) {
    const at = merged.findIndex((one) => isSameFile(one.path, place.path));
    const known = merged[at];
    if (known === undefined) merged.push(place);
    else merged[at] = mergePlaces(known, place);
  }
  return merged;
}

/** The better score with its reason, the longer path, and a line where either has one. */
function mergePlaces(known: Place, place: Place): Place {
  const better = place.score > known.score ? place : known;
  const path = place.path.length > known.path.length ? place.path : known.path;
  // A frame's own reason stays beside the name that raised it.
  const isRaised = known.from === 'frame' && place.from === 'test' && better === place && known.reason !== place.reason;
  const reason = isRaised ? `${known.reason}, and ${place.reason}` : better.reason;
  return { ...better, path, reason, line: better.line ?? known.line ?? place.line, from: known.from };
}

function fade(score: number, rank: number): number {
  return round(score * FADE ** rank);
}

function round(score: number): number {
  return Math.round(score * 100) / 100;
}
