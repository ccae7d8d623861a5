import type { Classification } from '../domain/analysis.ts';
import type { Diagnostic, FailingTest, ThrownException } from '../domain/failure.ts';
import { MAX_DIAGNOSTICS, type TriageSubject } from '../domain/triage.ts';
import { projectPath } from '../log/paths.ts';
import { NO_ERROR } from '../log/recognise/failures.ts';
import type { Ruling } from './classify.ts';
import type { Fact, Facts } from './facts.ts';
import { KIND_WORDING } from './kinds.ts';
import { findLeadingDiagnostic, listErrors } from './leading-diagnostic.ts';
import { findHost, findOwnService, missingModuleName } from './line-facts.ts';
import { isForeignPath } from './paths.ts';
import type { Match } from './rule.ts';
import { type Filled, type FindValue, fillFirst } from './sentence.ts';
import { listSiblings } from './siblings.ts';
import { readLastLines } from './telling-block.ts';
import { completeCause, readWhole } from './telling-fact.ts';
import { cleanWords } from './values/clean.ts';
import { isProjectFile } from './values/place.ts';
import { stateArtifacts } from './versions/upgrades.ts';
import { linesFrom, listed, oneLine, toolName } from './wording.ts';

/**
 * The cause in words: a title a person would say, and one to three sentences that say more than the title.
 */
interface Described {
  readonly title: string;
  readonly rootCause: string;
}

const MAX_TITLE = 80;
/** Lines that are shown where none of them says why the build failed. */
const LAST_LINES = 3;

/**
 * Names the cause, with the rule's own sentences if their slots can be filled, otherwise from the structured
 * facts. `statement` must be supported by evidence; `rootCause` adds a caution if the log does not show a
 * clear cause.
 */
export function describeCause(
  ruling: Ruling,
  classification: Classification,
  match: Match | null,
  find: FindValue | null,
  fact: Fact | null,
): Described & { readonly statement: string; readonly values: Filled['values'] } {
  const said = describe(ruling.facts, match, fact, classification);
  const title = find === null ? null : fillFirst(match?.rule.title, find);
  const cause = find === null ? null : fillFirst(match?.rule.cause, find);
  const artifacts =
    classification.category === 'DEPENDENCY_ERROR' ? stateArtifacts(ruling.facts.subject).slice(0, 1) : [];
  const stated = [cause?.text ?? said.rootCause, ...artifacts.map(({ text }) => text)].join(' ');
  const more =
    findLeadingDiagnostic(ruling.facts, match) === null
      ? addFromLog(stated, fact, cause?.values ?? [], ruling.facts)
      : [];
  const statement = [stated, ...more.map(({ text }) => text)].join(' ');
  const rootCause = `${statement}${nameStep(ruling.facts, fact)}`;
  return {
    title: cleanWords(title?.text ?? said.title, MAX_TITLE),
    statement,
    rootCause,
    values: [...(title?.values ?? []), ...(cause?.values ?? []), ...more.flatMap(({ values }) => values)],
  };
}

/** Adds what the log says of other names, and what it says besides. */
function addFromLog(cause: string, fact: Fact | null, used: Filled['values'], facts: Facts): Filled[] {
  const siblings = facts.subject.failingTests.length > 0 ? null : listSiblings(cause, fact, used, facts);
  const complete = completeCause(siblings === null ? cause : `${cause} ${siblings.text}`, fact, facts);
  return [siblings, complete].filter((one) => one !== null);
}

/** Names the failed step and how it ended. Returns an empty text if the log marks no step. */
function nameStep({ subject }: Facts, fact: Fact | null): string {
  // A log without marks is one section, called like its source.
  const failed = subject.failedSections.filter(
    ({ consequence, name, source }) =>
      consequence !== true && !source.startsWith(name) && !/^(?:log|build|output|console)$/i.test(name),
  );
  const step = failed.find((one) => fact !== null && isWithin(one, fact)) ?? failed[0];
  if (step === undefined) return '';
  const code = step.exitCode ?? subject.exits.at(-1)?.code ?? null;
  const others = failed.length - 1;
  const more =
    others === 0 ? '' : ` ${others === 1 ? '1 other step' : `${others} other steps`} failed as well.`;
  return ` It failed in the step “${oneLine(step.name, 100)}”${code === null ? '' : ` with exit code ${code}`}.${more}`;
}

function isWithin(
  { source, lineStart, lineEnd }: TriageSubject['failedSections'][number],
  fact: Fact,
): boolean {
  return fact.source === source && fact.line !== null && lineStart <= fact.line && fact.line <= lineEnd;
}

function describe(
  facts: Facts,
  match: Match | null,
  fact: Fact | null,
  classification: Classification,
): Described {
  const { kind } = classification;
  const text = match?.fact.text ?? '';
  if (match?.rule.name === 'not-formatted') return fromFormatter(facts) ?? fromWords(facts, fact, kind);
  const diagnostic = findLeadingDiagnostic(facts, match);
  if (diagnostic !== null) return fromDiagnostic(diagnostic, facts);
  if (kind === 'assertion' || kind === 'snapshot' || kind === 'flaky_timing')
    return fromTest(facts, match, fact, kind);
  if (kind === 'missing_module' && missingModuleName(text) !== null)
    return fromMissingModule(text, facts, classification);
  if (match?.rule.name === 'connection-refused') return fromRefusal(text);
  const named = facts.subject.exceptions.find((entry) => text.startsWith(`${entry.type}: `));
  const exception = named ?? facts.productException;
  if ((kind === 'null_reference' || kind === 'crash') && exception != null)
    return fromException(exception, facts);
  return fromWords(facts, fact, kind);
}

function fromDiagnostic(entry: Diagnostic, facts: Facts): Described {
  const place = formatPlace(entry.file, entry.line);
  const message = cleanWords(entry.message, 240);
  const errors = listErrors(facts).filter((other) => other.tool === entry.tool);
  const others = errors
    .filter((other) => other !== entry)
    .map((other) =>
      oneLine([formatPlace(other.file, other.line) ?? [], other.message].flat().join(' '), 140),
    );
  const count = errors.length > 1 ? `${countErrors(errors)} errors, the first` : 'one error';
  const code = entry.code === null ? '' : ` (${entry.code})`;
  const rules = rulesIn(errors);
  const next =
    rules !== null
      ? rules
      : others.length === 0
        ? ''
        : ` Then: ${others.slice(0, 2).join('; ')}${others.length > 2 ? `; and ${others.length - 2} more` : ''}.`;
  return {
    title: titleAt(place, message),
    rootCause: `${entry.tool === 'linter' ? 'The linter' : toolName(entry).replace(/^the /, 'The ')} reports ${count}${place === null ? '' : ` at ${place}`}${code}: ${message}.${next}`,
  };
}

/** Counts errors; a subject holds the first of many. */
function countErrors({ length }: readonly Diagnostic[]): string {
  return length < MAX_DIAGNOSTICS ? String(length) : `${length} or more`;
}

/**
 * Writes a title with its place; of a long one only the file's own name, so that what is wrong is not cut
 * off.
 */
function titleAt(place: string | null, message: string): string {
  if (place === null) return message;
  const whole = `${place}: ${message}`;
  return whole.length <= MAX_TITLE ? whole : `${place.split('/').at(-1)}: ${message}`;
}

/** Writes a title about a test, the name shortened where what happened would be cut off. */
function titleOfTest({ name }: FailingTest, what: string): string {
  const room = Math.max(28, MAX_TITLE - what.length - 4);
  return `“${oneLine(name, room)}”: ${what}`;
}

/** Rules named in one sentence. */
const MAX_RULES = 3;

/**
 * Names each rule of a linter or compiler with how often it was broken and where first; null where there are
 * not several.
 */
function rulesIn(errors: readonly Diagnostic[]): string | null {
  const byRule = [...Map.groupBy(errors, ({ code }) => code ?? '').entries()].filter(([code]) => code !== '');
  if (byRule.length < 2) return null;
  byRule.sort(([, one], [, other]) => other.length - one.length);
  const named = byRule.slice(0, MAX_RULES).map(([code, all]) => `${code} (${all.length})`);
  const others = byRule.length - named.length;
  const more = others === 0 ? '' : `; ${others} other ${others === 1 ? 'rule' : 'rules'}`;
  return ` Most frequent: ${named.join(', ')}${more}.`;
}

/** Formatters name the files they would change, a line each. */
function fromFormatter(facts: Facts): Described | null {
  const errors = facts.subject.diagnostics.filter((entry) => entry.severity === 'error');
  const named = errors.flatMap(
    (entry) => entry.file ?? /^\S{1,200}\.\w{1,6}$/.exec(entry.message)?.[0] ?? [],
  );
  const files = [...new Set(named.map(projectPath))];
  if (files.length === 0) return null;
  const count = files.length === 1 ? 'is' : 'are';
  return {
    title: `${listed(files)} ${count} not formatted to the project style`,
    rootCause: `The formatter ran in check mode and would change ${files.length === 1 ? 'one file' : `${files.length} files`}: ${listed(files, 6)}.`,
  };
}

function fromTest(
  facts: Facts,
  match: Match | null,
  fact: Fact | null,
  kind: Classification['kind'],
): Described {
  const test = decidedTest(facts, match);
  if (test === null) return fromWords(facts, fact, kind === 'snapshot' ? 'snapshot' : 'assertion');
  const place = formatPlace(test.file, test.line);
  const where = `${spokenTest(test)}${place === null ? '' : ` (${place})`}`;
  const more = otherTests(facts, test);
  const difference = kind === 'snapshot' ? firstDifference(test, facts.subject) : null;
  if (difference !== null)
    return {
      title: titleOfTest(test, 'no longer matches its snapshot'),
      rootCause: `${where} renders "${difference.now}" where the stored snapshot has "${difference.stored}".${more}`,
    };
  const shown = checkedExpression(test, facts.subject);
  const check = shown === null ? '' : ` at \`${shown.replaceAll('`', "'")}\``;
  if (test.expected !== null && test.actual !== null) {
    const [expected, actual] = [cleanWords(test.expected, 100), cleanWords(test.actual, 100)];
    return {
      title: titleOfTest(test, `expected ${expected} but got ${actual}`),
      rootCause: `${where} fails${check}: the test expects ${expected}, but the code returns ${actual}.${more}`,
    };
  }
  const words = (test.message ?? match?.fact.text ?? '').split('\n')[0] ?? '';
  const message = /^\s*(?:---? ?FAIL|FAILED\b)/.test(words)
    ? ''
    : cleanWords(words.replace(/^(?:(?:Assertion)?Error: |thrown: "?)/, ''), 240);
  if (kind === 'flaky_timing') {
    const what =
      message === ''
        ? 'its own time limit expired'
        : (/^.{10,200}?[^.\d](?=[.;] )/.exec(message)?.[0] ?? message);
    return {
      title: titleOfTest(test, what),
      rootCause: `${where} waited for a condition that was not met before the test timed out: ${what}.${more}`,
    };
  }
  return {
    title: titleOfTest(test, message === '' ? 'fails' : message),
    rootCause: `${where} fails${check}${message === '' ? ', and the log does not say what was expected' : `: ${message}`}.${more}`,
  };
}

function otherTests(facts: Facts, test: FailingTest): string {
  const others = facts.subject.failingTests
    .filter((other) => other.name !== test.name || other.suite !== test.suite)
    .map(({ name }) => `“${oneLine(name, 80)}”`);
  return others.length === 0 ? '' : ` Also failing: ${listed(others, 4)}.`;
}

function decidedTest(facts: Facts, match: Match | null): FailingTest | null {
  const { failingTests, failures } = facts.subject;
  const named = failingTests.find(
    (test) => test.message !== null && match?.fact.text.startsWith(test.message.slice(0, 60)) === true,
  );
  return named ?? failures.find((failure) => failure.test !== null)?.test ?? failingTests[0] ?? null;
}

function fromMissingModule(text: string, facts: Facts, { category }: Classification): Described {
  const name = missingModuleName(text) ?? '';
  const importer = findImporter(text, facts);
  const who = importer ?? 'The build';
  if (category === 'DEPENDENCY_ERROR')
    return {
      title: `The package ${name} is not installed`,
      rootCause: `${who} imports the package ${name}, but the job did not install it: it is not declared as a dependency, or the install step failed or was skipped.`,
    };
  return {
    title: `${importer === null ? 'The' : `${importer} imports ${name}, a`} module of the project ${importer === null ? name : 'that'} could not be found`,
    rootCause: `${who} imports ${name}, which should be a file in this project, but no such file exists: it was renamed, moved or not committed.`,
  };
}

/**
 * Finds the project file that imports the missing module: in the line itself, in Node's list below it, or in
 * the trace. Returns null if there is none.
 */
function findImporter(text: string, facts: Facts): string | null {
  const stack = facts.all.map((fact) => fact.text).join('\n');
  const said =
    / from '([^'\n]{1,200})'/.exec(text)?.[1] ?? /Require stack:\s{1,4}- (\S{1,300})/.exec(stack)?.[1];
  const frame = facts.subject.exceptions
    .flatMap(({ frames }) => frames)
    .find(({ own, file }) => own && !isForeignPath(file))?.file;
  const file = said ?? frame;
  return file === undefined || isForeignPath(file) ? null : projectPath(file);
}

function fromRefusal(text: string): Described {
  const own = findOwnService(text);
  const host = findHost(text) ?? 'the service';
  if (own === null)
    return {
      title: `${host} refused the connection`,
      rootCause: `The job tried to connect to ${host}, an external service, and was refused.`,
    };
  const service = own.name ?? 'a service';
  return {
    title: `${own.name ?? 'Nothing'} ${own.name === null ? 'answers' : 'does not answer'} on ${host}`,
    rootCause: `The job tried to connect to ${host} (${service} that the job itself provides), but nothing is listening there: it was not started, or was not ready yet.`,
  };
}

function fromException(entry: ThrownException, facts: Facts): Described {
  const frames = [...entry.frames, ...facts.subject.failures.flatMap((failure) => failure.frames)];
  const own = frames.find((frame) => frame.own && isProjectFile(frame.file));
  const place = own === undefined ? null : formatPlace(own.file, own.line);
  const message = cleanWords(entry.message, 260);
  const fn =
    own?.function == null || /^<|^Object\.<anonymous>$/.test(own.function)
      ? null
      : own.function.split('.').slice(-2).join('.');
  const where = [
    fn === null ? null : `in ${fn}`,
    place === null ? null : `${fn === null ? 'at ' : '('}${place}${fn === null ? '' : ')'}`,
  ];
  const at = where.filter((part) => part !== null).join(' ');
  const [test] = facts.subject.failingTests;
  const seen = test === undefined ? '' : ` This made ${spokenTest(test)} fail.${otherTests(facts, test)}`;
  const { verb, title } = chooseWording(shortType(entry.type));
  const who = fn === null ? (place ?? 'The program') : place === null ? fn : `${fn} (${place})`;
  return {
    title: title !== null ? `${title}${at === '' ? '' : ` ${at}`}` : titleThrown(entry, at, place, message),
    rootCause: `${who} ${verb} ${message}.${seen}`,
  };
}

/** Writes what was thrown, where, and its message; of a long place only the file. */
function titleThrown({ type }: ThrownException, at: string, place: string | null, message: string): string {
  const whole = `${shortType(type)}${at === '' ? '' : ` ${at}`}: ${message}`;
  if (whole.length <= MAX_TITLE || place === null) return whole;
  return `${shortType(type)} at ${place.split('/').at(-1)}: ${message}`;
}

/** Chooses the words for what was thrown: an exception is thrown, a program panics, two goroutines race. */
function chooseWording(type: string): { readonly verb: string; readonly title: string | null } {
  if (type === 'DATA RACE') return { verb: 'is accessed by several threads at once:', title: 'Data race' };
  if (type === 'panic') return { verb: 'panics:', title: null };
  return { verb: `throws ${type}:`, title: null };
}

function fromWords(facts: Facts, fact: Fact | null, kind: Classification['kind']): Described {
  const { failures, messages } = facts.subject;
  const said = cleanWords(
    (fact === null ? null : readWhole(fact, facts)) ??
      messages[0]?.text ??
      failures.find(({ message }) => message !== NO_ERROR)?.message ??
      '',
    300,
  );
  if (said === '') return describeNothingFound(facts);
  return {
    title: said,
    rootCause:
      kind === 'unknown' ? `The step stopped with: ${said}.` : `${KIND_WORDING[kind].spoken}: ${said}.`,
  };
}

/** Says that there is no cause, and how the failing step ended. */
function describeNothingFound(facts: Facts): Described {
  const last = readLastLines(facts, LAST_LINES).map((line) => `“${cleanWords(line, 160)}”`);
  const ending = last.length === 0 ? '' : ` The last lines are ${listed(last, LAST_LINES)}.`;
  return { title: 'No cause found', rootCause: `No line of the log says why the build failed.${ending}` };
}

function formatPlace(file: string | null, line: number | null): string | null {
  if (file === null) return null;
  const path = projectPath(file);
  return line === null ? path : `${path}:${line}`;
}

function shortType(type: string): string {
  return type.split('.').pop() ?? type;
}

/** Returns the line of the test that failed, as the framework showed it. Returns null if it showed none. */
function checkedExpression(test: FailingTest, subject: TriageSubject): string | null {
  for (const line of linesFrom(test.at, subject, 40)) {
    const shown =
      /^\s{0,12}>\s{1,12}(?:\d{1,6}\s{0,3}[|│]\s{0,60})?(?=\S)(?<code>(?:assert|expect|self\.|should|require|[\w.]{1,60}\().{1,300})$/.exec(
        line,
      )?.groups?.code;
    if (shown !== undefined) return oneLine(shown, 140);
  }
  return null;
}

/**
 * Returns the first line of the stored text that changed, and the line that replaces it. Returns null if no
 * difference was shown.
 */
function firstDifference(
  test: FailingTest,
  subject: TriageSubject,
): { readonly stored: string; readonly now: string } | null {
  const lines = linesFrom(test.at, subject, 60);
  for (const [index, line] of lines.entries()) {
    const next = lines[index + 1] ?? '';
    if (!/^\s{0,8}- {1,4}\S/.test(line) || !/^\s{0,8}\+ {1,4}\S/.test(next)) continue;
    if (/^\s{0,8}[-+] (?:Snapshot|Expected|Received|expected|received|actual)\b/.test(line)) continue;
    return {
      stored: oneLine(line.replace(/^\s{0,8}- /, ''), 80),
      now: oneLine(next.replace(/^\s{0,8}\+ /, ''), 80),
    };
  }
  return null;
}

/** Formats a test as people name it: with its suite, unless the suite only repeats a path or the name. */
function spokenTest({ name, suite }: Pick<FailingTest, 'name' | 'suite'>): string {
  if (
    suite === null ||
    suite === '' ||
    name.includes(suite) ||
    /[/\\]|\.\w{1,4}$/.test(suite) ||
    /^[\w.$]{1,300}$/.test(suite)
  )
    return `“${name}”`;
  return `“${suite} › ${name}”`;
}
