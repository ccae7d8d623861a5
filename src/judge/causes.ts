import type { Classification } from '../domain/analysis.ts';
import { hasTrait } from '../domain/category.ts';
import type { ThrownException } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { append } from '../lib/collections.ts';
import { NO_ERROR } from '../log/fingerprint/failures.ts';
import { isWrapper } from '../log/line-roles.ts';
import { getProjectPath } from '../log/paths.ts';
import { MAX_TITLE, withoutMachinePaths } from '../log/title.ts';
import type { Ruling } from './classify.ts';
import { type Described, formatPlace, joinTitle } from './described.ts';
import { complains, completeCause, readWhole } from './described-fact.ts';
import type { Fact, Facts } from './facts.ts';
import { readBlock, readLastLines } from './failure-block.ts';
import { describeFinding } from './finding-words.ts';
import { findLeadingDiagnostic } from './leading-diagnostic.ts';
import { findHost, findOwnService, readMissingModule } from './line-facts.ts';
import { isForeignPath } from './paths.ts';
import type { Match } from './rule.ts';
import { type Filled, type FindValue, fillFirstComplete } from './sentence.ts';
import { listSiblings } from './siblings.ts';
import { completeTimeout, describeTest, formatTestForPeople, nameOtherTests } from './test-words.ts';
import { cleanWords, quoteWords } from './values/clean.ts';
import { isProjectFile, STARTS_PROGRAM } from './values/place.ts';
import { stateArtifacts } from './versions/upgrades.ts';
import { joinWords, toOneLine } from './wording.ts';

/** The number of lines that are shown if none of them says why the build failed. */
const LAST_LINES = 3;

/**
 * Names the cause, with the rule's own sentences if their slots can be filled, otherwise from the structured
 * facts. `statement` must be supported by evidence; `rootCause` also names the failed step.
 */
export function describeCause(
  { facts }: Ruling,
  classification: Classification,
  match: Match | null,
  find: FindValue | null,
  fact: Fact | null,
): { title: string; statement: string; rootCause: string; values: Filled['values'] } {
  const step = findStep(facts, fact);
  const who = (step === null ? null : speakStep(step)) ?? 'The build';
  const place = classification.category === 'INFRA_ERROR' ? null : (find?.('place')?.text ?? null);
  const description = describe(facts, match, fact, classification, { who, place });
  const isFinding = findLeadingDiagnostic(facts, match) !== null;
  const cause = find === null ? null : fillFirstComplete(match?.rule.cause, find);
  // A rule's title is only about what the rule read, so it is not used if a finding leads.
  const title =
    find === null || (isFinding && cause === null) ? null : fillFirstComplete(match?.rule.title, find);
  const artifacts =
    classification.category === 'DEPENDENCY_ERROR' ? stateArtifacts(facts.subject).slice(0, 1) : [];
  const stated = [cause?.text ?? description.cause].concat(artifacts.map(({ text }) => text)).join(' ');
  const more = isFinding
    ? []
    : addFromLog(stated, fact, cause, facts, cause === null && description.isSilent === true);
  if (classification.kind === 'missing_file') append(more, nameEarlierError(stated, facts, find));
  const added = more.map(({ text }) => text);
  const statement = [stated].concat(added).join(' ');
  return {
    title: shortenTitle(title?.text ?? description.title),
    statement,
    rootCause: [stated, step === null ? [] : nameStep(step, facts, stated), ...added].flat().join(' '),
    values: [title, cause, more].flat().flatMap((filled) => filled?.values ?? []),
  };
}

/** The minimum weight of an error that may be the reason why a file was not written. */
const INFORMATIVE_WEIGHT = 60;

/**
 * Names an error before the message about a missing file that may be the reason why the file was not written.
 */
function nameEarlierError(cause: string, { subject }: Facts, find: FindValue | null): Filled[] {
  const earlier = find?.('earlierError') ?? null;
  const weight = subject.messages.find(({ text }) => text === earlier?.text)?.weight ?? 0;
  const cleaned = cleanWords(earlier?.text ?? '', 200);
  if (earlier === null || weight < INFORMATIVE_WEIGHT || cause.includes(cleaned)) return [];
  const text = `An earlier error may be the reason: ${quoteWords(cleaned)}.`;
  return [{ text, values: [earlier] }];
}

/** The name of an exception or the words of a wrapper, which are removed from a title that is too long. */
const WRAPS =
  /^[\w.$]{1,120}(?:Error|Exception|Configured)$|^[^“]{0,160}\b(?:[Ee]rror|[Ff]ailed|[Ff]ailure|operation|denied)\b[^“]{0,60}$/;
const MIN_TITLE = 20;

/** Shortens a title to its maximum length. The folders of a path at its beginning are removed first. */
function shortenTitle(title: string): string {
  const whole = withoutMachinePaths(cleanWords(title, 4 * MAX_TITLE));
  const name =
    whole.length > MAX_TITLE ? whole.replace(/^[^\s:“]{0,300}[\\/](?=[^\s:/\\]{1,80}:)/, '') : whole;
  const at = name.indexOf(': ');
  const [head, message] = [name.slice(0, at), name.slice(at + 2)];
  const isCut = name.length > MAX_TITLE && WRAPS.test(head) && /^[A-Z\d'"`[]/.test(message);
  const cut = cleanWords(isCut && message.length >= MIN_TITLE ? message : name, MAX_TITLE);
  // A quotation that was cut has no closing mark, so its opening mark is removed.
  return /^[^"]*"[^"…]*$/.test(cut) ? cut.replace('"', '') : cut;
}

/** Adds what the log says about other names, and further messages. */
function addFromLog(
  cause: string,
  fact: Fact | null,
  described: Filled | null,
  facts: Facts,
  isSilent: boolean,
): Filled[] {
  // Other messages of a test run may be about another test.
  if (facts.subject.failingTests.length > 0 && !isSilent) return [];
  const siblings = listSiblings(cause, fact, described?.values ?? [], facts);
  const sentence = siblings === null ? cause : `${cause} ${siblings.text}`;
  // A rule's own sentence is complete, so it is not extended.
  const complete = described === null ? completeCause(sentence, fact, facts) : null;
  return [siblings, complete].filter((filled) => filled !== null);
}

type Section = TriageSubject['failedSections'][number];

/** Finds the failed step that printed the fact, otherwise the first one. Null if the log marks no step. */
function findStep({ subject }: Facts, fact: Fact | null): Section | null {
  const failed = listFailedSteps(subject);
  return failed.find((section) => fact !== null && isWithin(section, fact)) ?? failed[0] ?? null;
}

function listFailedSteps({ failedSections }: TriageSubject): Section[] {
  // A log without markers is one section with the name of its source.
  return failedSections.filter(
    ({ consequence, name, source }) =>
      consequence !== true && !source.startsWith(name) && !/^(?:log|build|output|console)$/i.test(name),
  );
}

/** Describes the failed step, unless the cause names it: how it ended, and how many others failed. */
function nameStep(step: Section, { subject }: Facts, cause: string): string[] {
  const who = speakStep(step);
  const code = step.exitCode ?? subject.exits.at(-1)?.code ?? null;
  // Exit code 1 is not informative, because nearly every failure has it.
  const ended = code === null || code === 1 ? '' : ` with exit code ${code}`;
  const isNamed = who === null || cause.includes(who.slice(4));
  const named = ended === '' ? [] : [`${who === null ? 'The step' : 'It'} ended${ended}.`];
  const sentences = isNamed ? named : [`${who} failed${ended}.`];
  const others = listFailedSteps(subject).length - 1;
  if (others === 0) return sentences;
  return sentences.concat(`${others === 1 ? 'One other step' : `${others} other steps`} also failed.`);
}

/** The name that GitHub gives to a step without one: its action or the first line of its script. */
const UNNAMED = /^(?:(?<job>.{1,200}?) \/ )?Run (?<given>\S.*)$/;

/**
 * Names a step in a sentence: "The step “Build”", "The step that runs `npm ci`". If the first line of its
 * script is not informative, names its job. Returns null if the log does not name the job either.
 */
function speakStep({ name }: Section): string | null {
  const { job, given = '' } = UNNAMED.exec(name)?.groups ?? {};
  const script = describeScript(given);
  if (script === null) return `The step ${quoteWords(toOneLine(name, 100))}`;
  if (script !== '') return `The step that ${script}${job === undefined ? '' : ` (job ${job})`}`;
  return job === undefined ? null : `The job ${quoteWords(job)}`;
}

/**
 * Describes what an unnamed step runs. Returns an empty text if its first line is not informative, and null
 * if it has a name.
 */
function describeScript(given: string): string | null {
  if (/^[\w.-]+\/[\w./-]+@\S+$/.test(given)) return `uses ${given}`;
  if (!SCRIPT.test(given)) return null;
  if (STARTS.test(given)) return '';
  return `runs \`${toOneLine(given.trim(), 80).replaceAll('`', "'")}\``;
}

/**
 * The first line of a script, as opposed to a name that a person gave: it contains operators, options or a
 * known program.
 */
const SCRIPT =
  /^(?:\w+=|[#.~/[$]|(?![A-Z]).*(?: -|[=$"\\;|`]|&&)|(?:cd|npm|npx|pnpm|yarn|bun|go|cargo|make|mvn|python3?|node|pytest|bundle|docker|git) )/;
/** The first line of a script that does not show what the script does. */
const STARTS =
  /^(?:#|\[|\{|\(|\$?\w+ ?=|(?:if|for|while|case|echo|printf|set|export|cd|mkdir|chmod|Write-\w+|git config|npm init|(?:python3? -m )?pip3? install --upgrade pip)\b)|[\\`|({]$/;

function isWithin({ source, lineStart, lineEnd }: Section, fact: Fact): boolean {
  return fact.source === source && fact.line !== null && lineStart <= fact.line && fact.line <= lineEnd;
}

function describe(
  facts: Facts,
  match: Match | null,
  fact: Fact | null,
  classification: Classification,
  where: { readonly who: string; readonly place: string | null },
): Described {
  const { kind } = classification;
  const text = match?.fact.text ?? '';
  const inWords = () => quoteLog(facts, fact, where, match !== null);
  if (match?.rule.name === 'not-formatted') return describeFormatting(facts, match.fact) ?? inWords();
  const diagnostic = findLeadingDiagnostic(facts, match);
  if (diagnostic !== null) return describeFinding(diagnostic, facts);
  const named = facts.subject.exceptions.find((entry) => text.startsWith(`${entry.type}: `));
  if (hasTrait(kind, 'in-test'))
    return describeTest(facts, fact, kind) ?? describeThrown(named, facts) ?? inWords();
  if (kind === 'missing_module' && readMissingModule(text) !== null)
    return describeMissingModule(text, facts, classification);
  if (match?.rule.name === 'connection-refused') return describeRefusal(text);
  const exception = named ?? facts.productException;
  if (hasTrait(kind, 'thrown') && exception != null && !isWrapper(cleanWords(exception.message, 260)))
    return describeException(exception, facts);
  return describeThrown(named, facts) ?? inWords();
}

/** Describes a formatter's complaint. Formatters print the files that they would change, one on each line. */
function describeFormatting(facts: Facts, fact: Fact): Described | null {
  const errors = facts.subject.diagnostics.filter((entry) => entry.severity === 'error');
  const paths = errors.flatMap(
    (entry) => entry.file ?? /^\S{1,200}\.\w{1,6}$/.exec(entry.message)?.[0] ?? [],
  );
  const files = [...new Set((paths.length > 0 ? paths : listWarnedFiles(facts, fact)).map(getProjectPath))];
  if (files.length === 0) return null;
  const count = files.length === 1 ? 'is' : 'are';
  const named = `${joinWords(files)} ${count} not formatted to the project style`;
  return {
    title: named.length > MAX_TITLE ? `${files.length} files are not formatted to the project style` : named,
    cause: `The formatter ran in check mode and would change ${files.length === 1 ? 'one file' : `${files.length} files`}: ${joinWords(files, 6)}.`,
  };
}

/** Lists the files that Prettier names in warnings directly above its closing sentence. */
function listWarnedFiles(facts: Facts, fact: Fact): string[] {
  const { trigger, step } = readBlock(fact, facts);
  const above = step.filter(({ line }) => trigger.line !== null && line < trigger.line).reverse();
  const files = above.map(({ text }) => /^\[warn\] (\S{1,200}\.\w{1,6})$/.exec(text.trim())?.[1]);
  const end = files.indexOf(undefined);
  return files.slice(0, end === -1 ? undefined : end).flatMap((file) => file ?? []);
}

function describeMissingModule(text: string, facts: Facts, { category }: Classification): Described {
  const name = readMissingModule(text) ?? '';
  const who = findImporter(text, facts) ?? 'The code';
  if (category === 'DEPENDENCY_ERROR')
    return {
      title: `The package ${name} is not installed`,
      cause: `${who} imports ${name}, which is not installed in this job.`,
    };
  return {
    title: joinTitle(who, `imports ${name}, which does not exist`, ' '),
    cause: `${who} imports ${name}, which looks like a file of this project but does not exist; it may have been renamed, moved, or never committed.`,
  };
}

/**
 * Finds the project file that imports the missing module: in the line itself, in Node's list below it, or in
 * the trace. Returns null if there is none.
 */
function findImporter(text: string, facts: Facts): string | null {
  const stack = facts.all.map((fact) => fact.text).join('\n');
  const importer =
    / from '([^'\n]{1,200})'/.exec(text)?.[1] ?? /Require stack:\s{1,4}- (\S{1,300})/.exec(stack)?.[1];
  const thrown = facts.subject.exceptions.filter(({ message }) => text.includes(message));
  const frames = (thrown.length > 0 ? thrown : facts.subject.exceptions).flatMap((entry) => entry.frames);
  const library = /(?:site|dist)-packages\/(\w{1,80})/.exec(frames[0]?.file ?? '')?.[1];
  if (importer === undefined && library !== undefined) return `The installed package ${library}`;
  const file = importer ?? frames.find(({ own, file: path }) => own && !isForeignPath(path))?.file;
  return file === undefined || isForeignPath(file) ? null : getProjectPath(file);
}

function describeRefusal(text: string): Described {
  const ownService = findOwnService(text);
  const host = findHost(text) ?? 'the service';
  if (ownService === null)
    return {
      title: `${host} refused the connection`,
      cause: `The job tried to connect to ${host}, an external service, and was refused.`,
    };
  const service = ownService.name ?? 'a service';
  return {
    title:
      ownService.name === null
        ? `Nothing answers on ${host}`
        : `${ownService.name} does not answer on ${host}`,
    cause: `The job tried to connect to ${host} (${service} that the job itself provides), but nothing is listening there: it was not started, or was not ready yet.`,
  };
}

/** Describes an exception that the project's own code threw. Returns null if none is known. */
function describeThrown(entry: ThrownException | undefined, facts: Facts): Described | null {
  const isOwn = entry?.frames.some(({ own, file }) => own && isProjectFile(file)) === true;
  return entry !== undefined && isOwn ? describeException(entry, facts) : null;
}

function describeException(entry: ThrownException, facts: Facts): Described {
  const frames = entry.frames.concat(facts.subject.failures.flatMap((failure) => failure.frames));
  const ours = frames.filter((frame) => frame.own && isProjectFile(frame.file));
  const ownFrame = ours.find(({ file }) => !STARTS_PROGRAM.test(file)) ?? ours[0];
  const place = ownFrame === undefined ? null : formatPlace(ownFrame.file, ownFrame.line);
  const message = cleanWords(completeTimeout(entry.message, entry.at, facts.subject), 260);
  const [test] = facts.subject.failingTests;
  const isFile = test !== undefined && place?.startsWith(test.name) === true;
  const fails = test === undefined || isFile ? '' : ` This makes ${formatTestForPeople(test)} fail.`;
  const seen = test === undefined ? '' : `${fails}${nameOtherTests(facts, test)}`;
  const type = entry.type.split('.').pop() ?? entry.type;
  return {
    title: type === 'DATA RACE' ? `Data race at ${place}` : joinTitle(place, message, ': ', nameType(type)),
    cause: `${nameThrower(ownFrame?.function ?? null, place)} ${chooseVerb(type, place)} ${quoteWords(message)}.${seen}`,
  };
}

/** Names an exception type in a title. Returns an empty text for a type that is not informative. */
function nameType(type: string): string {
  return /^(?:Error|Exception)$/.test(type) ? '' : type;
}

/** Names what threw an exception: the function with its place, the place alone, or the program. */
function nameThrower(name: string | null, place: string | null): string {
  if (name === null || /^<|^Object\.<anonymous>$/.test(name)) return place ?? 'The program';
  const short = name.split('.').slice(-2).join('.');
  return place === null ? short : `${short} (${place})`;
}

/** Chooses the verb: an exception is thrown or raised, a program panics, two goroutines race. */
function chooseVerb(type: string, place: string | null): string {
  if (type === 'DATA RACE') return 'is accessed by several threads at once:';
  if (type === 'panic') return 'panics:';
  if (type === 'fatal error') return 'stops with a fatal error:';
  const verb = /\.(?:py|rb)\b/.test(place ?? '') ? 'raises' : 'throws';
  return nameType(type) === '' ? `${verb} an error:` : `${verb} ${type}:`;
}

/** Quotes the line that says why the step failed: one that a rule matched, or one that contains an error. */
function quoteLog(
  facts: Facts,
  fact: Fact | null,
  { who, place }: { readonly who: string; readonly place: string | null },
  isKnown: boolean,
): Described {
  const { failures, messages } = facts.subject;
  const quotedLines = [fact === null ? [] : readWhole(fact, facts), messages.map(({ text }) => text)].flat();
  const failed = failures.flatMap(({ message }) => (message === NO_ERROR ? [] : message));
  // A URL alone is not informative.
  const words = quotedLines.concat(failed).find((text) => !/^https?:\/\/\S{1,2000}$/.test(text.trim())) ?? '';
  const cleaned = cleanWords(words, 300);
  if (/^The operation was cancell?ed$/.test(cleaned))
    return { title: 'The job was canceled', cause: `${who} was canceled; the log does not say why.` };
  if (cleaned === '' || !(isKnown || complains(fact?.text ?? words))) return describeNothingFound(facts);
  const file =
    place
      ?.replace(/:\d{1,7}$/, '')
      .split('/')
      .at(-1) ?? '';
  if (place === null || cleaned.includes(file))
    return { title: cleaned, cause: `${who} failed with ${quoteWords(cleaned)}.` };
  return {
    title: joinTitle(place, cleaned),
    cause: `${who} failed at ${place} with ${quoteWords(cleaned)}.`,
  };
}

/** States that no cause was found, and how the failed step ended. */
function describeNothingFound(facts: Facts): Described {
  const last = readLastLines(facts, LAST_LINES).map((line) => quoteWords(cleanWords(line, 160)));
  const ending = last.length === 0 ? '' : ` The last lines are ${joinWords(last, LAST_LINES)}.`;
  return { title: 'No cause found', cause: `No line of the log says why the build failed.${ending}` };
}
