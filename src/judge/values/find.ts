import { MAX_DIAGNOSTICS } from '../../domain/triage.ts';
import { takeFirstOfEach } from '../../lib/collections.ts';
import { findProjectName } from '../../log/paths.ts';
import { isComplaint } from '../described-fact.ts';
import type { Fact, Facts } from '../facts.ts';
import { type FailureBlock, joinAfter, readBlock } from '../failure-block.ts';
import { getDistribution } from '../known-packages.ts';
import { listErrors } from '../leading-diagnostic.ts';
import { findHost, findOwnService, readMissingModule } from '../line-facts.ts';
import { OFFER_READS } from '../offers.ts';
import { readProject, toRepositoryPath } from '../paths.ts';
import type { FindValue, Nearness, Value } from '../sentence.ts';
import { getToolName, joinWords } from '../wording.ts';
import { cleanValue, cleanWords } from './clean.ts';
import { readCommand, readStep } from './command.ts';
import { readHint } from './hint.ts';
import { readListedFiles } from './listed.ts';
import { SHARED_PATTERNS } from './patterns.ts';
import { isProjectFile, readComplaint, readPlace, readThrownAt } from './place.ts';
import { CLASH_READERS } from './requirement-clash.ts';
import { readActual, readExpected, readTest } from './tests.ts';
import { LIMIT_READERS } from './time-limit.ts';
import { VERSION_READERS } from './versions.ts';

/** A reader for values that need more than a pattern. */
type Reader = (block: FailureBlock, facts: Facts) => Value | null;

const READERS: Readonly<Record<string, Reader>> = {
  place: (block, { subject }) => readPlace(block, subject),
  thrownAt: (block, { subject }) => readThrownAt(block, subject),
  file: (block, { subject }) => change(readPlace(block, subject), (place) => place.replace(/:\d{1,6}$/, '')),
  test: (block, { subject }) => readTest(block, subject),
  expected: (block, { subject }) => readExpected(block, subject),
  actual: (block, { subject }) => readActual(block, subject),
  command: (block, { subject }) => readCommand(block, subject),
  step: (block, { subject }) => readStep(block, subject),
  secret: ({ step }) => readSecret(step),
  hint: (block, { subject }) => readHint(block, subject),
  complaint: (block, { subject }) => readComplaint(block, subject) ?? readFaultCount(block, subject),
  listed: (block, { subject }) => readListedFiles(block, subject),
  host: (block) => findOnLines(block, findHost),
  service: (block) => findOnLines(block, (text) => findOwnService(text)?.name ?? null),
  module: (block) => findOnLines(block, readMissingModule),
  ownPackage: readOwnPackage,
  package: (block) => findOnLines(block, readPublishedName),
  message: ({ trigger }) => createValue(trigger, cleanWords(trigger.text.split('\n')[0] ?? '', 160)),
  tool: readTool,
  errors: countErrors,
  otherPlaces: listOtherPlaces,
  earlierError: readEarlierError,
  fixed: readFixMark,
  remoteAbove: readRemoteAbove,
  ...CLASH_READERS,
  ...VERSION_READERS,
  ...LIMIT_READERS,
};

/**
 * Creates a function that finds the values of a failure. The row's own patterns are tried first, on the
 * deciding line, its paragraph and its step, and then the shared ones, at most on the paragraph. Each value
 * is read at most once.
 */
export function createFinder(fact: Fact, { reads, readsOwn }: Patterns, facts: Facts): FindValue {
  const block = readBlock(fact, facts);
  const ownBlock = { ...block, paragraph: listContinuingLines(block, facts) };
  const known = new Map<string, Value | null>();
  return (slot) => {
    const before = known.get(slot);
    if (before !== undefined) return before;
    const value =
      readNamed(slot, reads, block, 'step') ??
      readNamed(slot, [...readsOwn, ...OFFER_READS], ownBlock, 'paragraph') ??
      READERS[slot]?.(block, facts) ??
      readNamed(slot, SHARED_PATTERNS, block, 'paragraph');
    known.set(slot, value);
    return value;
  };
}

/** The patterns of a failure: `reads` are tried on the whole step, `readsOwn` only up to the next finding. */
interface Patterns {
  readonly reads: readonly RegExp[];
  readonly readsOwn: readonly RegExp[];
}

/** Returns the lines below the trigger up to the next finding. */
function listContinuingLines(
  { trigger, paragraph }: FailureBlock,
  { subject }: Facts,
): FailureBlock['paragraph'] {
  const below = paragraph.filter(({ line }) => trigger.line !== null && line > trigger.line);
  const next = below.findIndex((shownLine) =>
    subject.diagnostics.some(({ at }) => at?.source === shownLine.source && at.line === shownLine.line),
  );
  return next < 0 ? below : below.slice(0, next);
}

/** Returns the slots that any row can use. */
export function listSharedSlots(): ReadonlySet<string> {
  return new Set([...Object.keys(READERS), ...[...OFFER_READS, ...SHARED_PATTERNS].flatMap(listGroups)]);
}

/** Returns the names of a pattern's groups. */
export function listGroups({ source }: RegExp): string[] {
  return Array.from(source.matchAll(/\(\?<([a-zA-Z]\w{0,30})>/g), ([, name]) => name ?? '');
}

/** Reads a named group with the first pattern that has it, nearest line first. */
function readNamed(
  slot: string,
  patterns: readonly RegExp[],
  block: FailureBlock,
  furthest: Nearness,
): Value | null {
  const fit = patterns.filter((pattern) => pattern.source.includes(`(?<${slot}>`));
  if (fit.length === 0) return null;
  const { trigger, paragraph, step } = block;
  const onTrigger = fit.flatMap((pattern) => groupIn(pattern, trigger.text, slot) ?? [])[0];
  if (onTrigger !== undefined)
    return { text: onTrigger, source: trigger.source, line: trigger.line, near: 'line' };
  const near = readLines(slot, fit, paragraph, 'paragraph') ?? readWrapped(slot, fit, block);
  return near ?? (furthest === 'step' ? readLines(slot, fit, step, 'step') : null);
}

function readLines(
  slot: string,
  patterns: readonly RegExp[],
  lines: FailureBlock['step'],
  near: Nearness,
): Value | null {
  for (const pattern of patterns) {
    for (const line of lines) {
      const text = groupIn(pattern, line.text, slot);
      if (text !== null) return { text, source: line.source, line: line.line, near };
    }
  }
  return null;
}

/** Reads a value from a sentence that was wrapped, by joining its lines. */
function readWrapped(slot: string, patterns: readonly RegExp[], block: FailureBlock): Value | null {
  const { text, lineAt } = joinAfter(block);
  for (const pattern of patterns) {
    const found = pattern.exec(text);
    const value = groupIn(pattern, text, slot);
    if (found === null || value === null) continue;
    const at = lineAt(text.indexOf(found.groups?.[slot] ?? '', found.index));
    return { text: value, source: at?.source ?? null, line: at?.line ?? null, near: 'paragraph' };
  }
  return null;
}

function groupIn(pattern: RegExp, text: string, slot: string): string | null {
  const group = pattern.exec(text)?.groups?.[slot];
  const value = group === undefined ? null : cleanValue(group);
  return value === null || FITS[slot]?.test(value) === false ? null : value;
}

/**
 * The pattern that the value of a slot must match: only programs can be installed, not options, shell words
 * or functions.
 */
const FITS: Readonly<Record<string, RegExp>> = {
  owner: /^[A-Za-z_$][\w.$: ]*(?:<.*>)?$/,
  program:
    /^(?!(?:source|export|local|declare|typeset|function|alias|let|pushd|popd|shopt|set|unset|read|eval|exec|trap|return|then|fi|do|done|else|elif|if|for|while|case|esac)$)(?![a-z]+_[a-z_]+$)[\w./]/,
};

/** Finds the first line, nearest first, that contains a value. */
function findOnLines(
  { trigger, paragraph }: FailureBlock,
  read: (text: string) => string | null,
): Value | null {
  const first = read(trigger.text);
  if (first !== null) return createValue(trigger, cleanValue(first));
  for (const shownLine of paragraph) {
    const text = cleanValue(read(shownLine.text) ?? '');
    if (text !== null) return { text, source: shownLine.source, line: shownLine.line, near: 'paragraph' };
  }
  return null;
}

function createValue({ source, line }: FailureBlock['trigger'], text: string | null): Value | null {
  return text === null || text === '' ? null : { text, source, line, near: 'line' };
}

function change(value: Value | null, how: (text: string) => string): Value | null {
  return value === null ? null : { ...value, text: how(value.text) };
}

/** Reads the name of the step's only secret, whose value the runner masks. */
function readSecret(step: FailureBlock['step']): Value | null {
  const secretLines = step.filter(({ text }) => SECRET.test(text));
  const names = new Set(secretLines.map(({ text }) => SECRET.exec(text)?.[1] ?? ''));
  const [[name] = [], [first]] = [[...names], secretLines];
  return first === undefined || name === undefined || names.size > 1
    ? null
    : { text: name, source: first.source, line: first.line, near: 'step' };
}

const SECRET = /^\s{2,8}(?!GITHUB_TOKEN|GH_TOKEN)([A-Z][A-Z0-9_]{2,60}): \*{3}$/;

/** Reads what a line that counts files says about them. */
function readFaultCount(block: FailureBlock, subject: Facts['subject']): Value | null {
  return readListedFiles(block, subject) === null
    ? null
    : createValue(block.trigger, cleanWords(block.trigger.text.split('\n')[0] ?? '', 140));
}

/** Reads a package's published name. Returns null for a file of the project. */
function readPublishedName(text: string): string | null {
  const name = readMissingModule(text);
  if (name === null || /^(?:[./~#]|@\/|src\/|[A-Za-z]:)/.test(name)) return null;
  if (/No module named/.test(text)) return getDistribution(name);
  return name.startsWith('@') ? name.split('/').slice(0, 2).join('/') : (name.split('/')[0] ?? name);
}

/** Reads the common name of the tool that reported the error. Returns null if only its format is known. */
function readTool({ trigger }: FailureBlock, { subject }: Facts): Value | null {
  const entry = subject.diagnostics.find(
    ({ at }) => at !== null && at.source === trigger.source && at.line === trigger.line,
  );
  const name = entry === undefined ? null : getToolName(entry);
  return name === null || /^the |^linter$|^tool$/.test(name) ? null : createValue(trigger, name);
}

/** Counts the errors of the tool that reported the deciding line. Returns null if there is only one. */
function countErrors({ trigger }: FailureBlock, facts: Facts): Value | null {
  const errors = listErrors(facts);
  const error = errors.find(({ at }) => at?.source === trigger.source && at?.line === trigger.line);
  const count = errors.filter(({ tool }) => tool === error?.tool).length;
  return error === undefined || count < 2 || count >= MAX_DIAGNOSTICS
    ? null
    : createValue(trigger, String(count));
}

/** The maximum number of further files that advice names. */
const MAX_FILES = 3;

/** Lists the first error in each other file of the project that the tool of the deciding error reports. */
function listOtherPlaces({ trigger }: FailureBlock, facts: Facts): Value | null {
  const errors = listErrors(facts);
  const error = errors.find(({ at }) => at?.source === trigger.source && at?.line === trigger.line);
  const project = readProject(facts.subject);
  const files = errors.flatMap(({ tool, file, line }) =>
    tool !== error?.tool || file === null || !isProjectFile(file)
      ? []
      : { file: toRepositoryPath(file, project), line },
  );
  const others = takeFirstOfEach(files, ({ file }) => file).filter(
    ({ file }) => file !== toRepositoryPath(error?.file ?? '', project),
  );
  const places = others.map(({ file, line }) => [file, line ?? []].flat().join(':'));
  return createValue(trigger, joinWords(places, MAX_FILES, 'other files'));
}

/** Reads the missing package if it has the name of the checkout folder. */
function readOwnPackage(block: FailureBlock, facts: Facts): Value | null {
  const normal = (name: string | null) => name?.toLowerCase().replaceAll('-', '_') ?? null;
  const project = normal(findProjectName(facts.shown));
  const named = findOnLines(block, (text) => readMissingModule(text)?.split('.')[0] ?? null);
  return named !== null && project !== null && normal(named.text) === project ? named : null;
}

/** The minimum distance in lines of another error that is not part of the same message. */
const APART = 6;

/** Reads an error above the deciding line that may be its cause. */
function readEarlierError({ trigger }: FailureBlock, { subject }: Facts): Value | null {
  const { source, line } = trigger;
  const earlier = subject.messages.find(
    (message) =>
      message.at !== null &&
      message.at.source === source &&
      line !== null &&
      message.at.line < line - APART &&
      isComplaint(message),
  );
  return earlier?.at == null ? null : { text: earlier.text, ...earlier.at, near: 'step' };
}

/**
 * Reads the repository from the lines directly above the deciding line, because Git may print only its host.
 */
function readRemoteAbove({ trigger, paragraph }: FailureBlock): Value | null {
  for (const shownLine of paragraph.filter(({ line }) => trigger.line !== null && line < trigger.line)) {
    const remote = /https?:\/\/[\w.-]{3,100}\/[\w.~-]{1,100}\/[\w.~-]{1,100}\w/.exec(shownLine.text)?.[0];
    if (remote !== undefined)
      return { text: remote, source: shownLine.source, line: shownLine.line, near: 'paragraph' };
  }
  return null;
}

/** Reads the marker of a linter after a finding that it can fix: "F401 [*] …". */
function readFixMark({ trigger }: FailureBlock): Value | null {
  return /(?:^|\s)[A-Z]{1,5}\d{1,5} \[\*\] \S/.test(trigger.text) ? createValue(trigger, '[*]') : null;
}
