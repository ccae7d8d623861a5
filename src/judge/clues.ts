import type { Category } from '../domain/category.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { NO_ERROR } from '../log/fingerprint/failures.ts';
import type { Clues } from '../ports/toolbox.ts';
import { classifyByRules } from './classify.ts';
import { type Place, rankPlaces } from './places.ts';

const MAX_HEADLINE = 300;

/** Reads the clues from which arguments of tools are built. */
export function readClues(subject: TriageSubject, category?: Category): Clues {
  const places = rankPlaces(subject);
  const headline = readHeadline(subject);
  return {
    subject,
    category,
    places,
    located: findLocated(places),
    headline,
    decisive: classifyByRules(subject).decisive?.fact.text ?? null,
    symbol: findSymbol(subject, headline),
    manifest: findManifest(subject),
  };
}

/** Checks whether the failure names a line of the project outside of tests. */
export function hasLocated(subject: TriageSubject): boolean {
  return findLocated(rankPlaces(subject)) !== null;
}

function findLocated(places: readonly Place[]): Clues['located'] {
  for (const { path, line, from } of places) if (line !== null && from !== 'test') return { path, line };
  return null;
}

/** Returns the sentence that best describes what went wrong. */
function readHeadline(subject: TriageSubject): string {
  const [first] = subject.failures;
  const message = first?.message === NO_ERROR ? undefined : first?.message;
  const headline =
    message ??
    subject.messages[0]?.text ??
    subject.diagnostics[0]?.message ??
    subject.exceptions[0]?.message ??
    '';
  return headline.replace(/\s+/g, ' ').trim().slice(0, MAX_HEADLINE);
}

/** Messages of compilers and interpreters that a name is not defined. */
const UNKNOWN_NAME = new RegExp(
  `\\b(?:${[
    'cannot find (?:name|symbol|type|value|function|module)',
    'undefined:',
    'is not defined',
    'undeclared',
    'unresolved (?:reference|name|symbol)',
    'not found in (?:this )?scope',
    'unknown (?:name|type|identifier|symbol)',
    'uninitialized constant',
  ].join('|')})`,
  'i',
);

/** Checks whether the error is that a name is not defined where it is used. */
export function namesUnknown({ subject, headline, symbol }: Clues): boolean {
  const messages = [...subject.diagnostics, ...subject.exceptions].map(({ message }) => message);
  return UNKNOWN_NAME.test(messages.concat(headline).join('\n')) && symbol !== null;
}

function findSymbol(subject: TriageSubject, headline: string): string | null {
  const texts = [
    ...[...subject.diagnostics, ...subject.exceptions].map(({ message }) => message),
    headline,
  ].join('\n');
  const quoted =
    /[`'"‘]([A-Za-z_][\w.:]{2,80})[`'"’]/.exec(texts)?.[1] ??
    /(?:symbol: +\w+ |undefined: )([A-Za-z_]\w{2,80})/.exec(texts)?.[1];
  return quoted ?? subject.exceptions[0]?.frames.find((frame) => frame.own)?.function ?? null;
}

const MANIFESTS: readonly (readonly [RegExp, string])[] = [
  [/^(?:npm|yarn|pnpm|jest|vitest|mocha|tsc|typescript|eslint|node)$/i, 'package.json'],
  [/^(?:maven|surefire|junit)$/i, 'pom.xml'],
  [/^gradle$/i, 'build.gradle'],
  [/^(?:cargo|rust|rustc)$/i, 'Cargo.toml'],
  [/^go\b/i, 'go.mod'],
  [/^(?:bundler|rspec|gem)$/i, 'Gemfile'],
  [/^composer$/i, 'composer.json'],
  [/^(?:poetry|uv|pdm|hatch)$/i, 'pyproject.toml'],
  [/^(?:pip|pytest|python|unittest|tox)$/i, 'requirements.txt'],
  [/^(?:dart|flutter|pub|melos)$/i, 'pubspec.yaml'],
  [/^(?:swift|swiftpm|xcodebuild)$/i, 'Package.swift'],
];

/** Returns the name of the toolchain's manifest. Returns null if none is known. */
export function findManifest(subject: TriageSubject): string | null {
  return MANIFESTS.find(([pattern]) => subject.toolchains.some((tool) => pattern.test(tool)))?.[1] ?? null;
}
