import { type Category, hasTrait, type Kind } from '../../domain/category.ts';
import { asksWithoutEnd, type Fact, type Facts } from '../facts.ts';
import {
  findOwnService,
  isMappedName,
  isOwnModule,
  readMissingModule,
  readRegistryStatus,
} from '../line-facts.ts';
import { isForeignPath } from '../paths.ts';
import { type Match, type Rule, TELLS } from '../rule.ts';
import type { Wording } from '../sentence.ts';
import { findReachedLimit } from '../time-limit.ts';
import { findMismatch } from '../versions/mismatch.ts';

/** The decision of a tie: a category with its strength in logits, and the matches that no longer count. */
interface TieRuling {
  readonly category: Category;
  readonly kind: Kind;
  readonly strength: number;
  readonly fact: Fact;
  readonly drop: (match: Match) => boolean;
  /** The rule whose sentences apply here, too. */
  readonly like?: Rule;
}

const THROWN = /^(?:null-pointer|type-error-thrown|index-or-value-error|uncaught-product-exception|panic)$/;

/** A row of the table of ties: the decision and its wording. */
interface Tie extends Wording {
  readonly apply: (facts: Facts, matches: readonly Match[]) => TieRuling | null;
}

/** The ties that the taxonomy decides. Ties 6 and 7 only weaken matches: see `softenInfra` and `ruleBy`. */
export const TIES: Readonly<Record<string, Tie>> = {
  'runtime-of-another-version': {
    apply: blameRuntimeVersion,
    title: [
      '{member} needs {runtime} {since}, but the job runs {running}',
      '{member} was removed in {runtime} {removed}',
    ],
    cause: [
      '{member} was added in {runtime} {since}, but the job runs {runtime} {running}.',
      '{member} was removed in {runtime} {removed}, but the job runs {runtime} {running}.',
    ],
    fix: [
      [
        'configuration',
        'Upgrade {runtime} in the job from {running} to {since} or newer, which has {member}.',
      ],
      [
        'configuration',
        'Use a release of {runtime} before {removed} in the job, or replace {member}, which was removed ' +
          'in {removed}.',
      ],
    ],
  },
  'time-limit-ran-out': {
    apply: blameTimeLimit,
    title: [
      'The run was canceled after {silentFor} without output',
      'The {limited} was canceled after {reached}, probably by a time limit',
    ],
    cause: [
      'Nothing was printed for {silentFor} before the run was canceled, as a limit on missing output does. ' +
        'The log does not say who canceled it.',
      '`{command}` was still running when the {limited} was canceled {elapsed} after it began, as a time ' +
        'limit of {reached} does. The log does not say who canceled it.',
      'The {limited} was canceled {elapsed} after it began, as a time limit of {reached} does. The log ' +
        'does not say who canceled it.',
    ],
    fix: [
      ['configuration', '{reached?}Find out what `{command}` is waiting for, or raise the time limit.'],
      ['configuration', '{reached?}Find out what the step is waiting for, or raise the time limit.'],
    ],
  },
  'tie-1-error-thrown-in-test': {
    apply: blameThrowingTest,
  },
  'tie-14-resource-exhausted': {
    apply: blameExhaustedResource,
  },
  'tie-2-refused-by-own-service': {
    apply: blameOwnService,
    reads: [/\bport:? (?<port>\d{2,5})\b/],
    title: ['{service} does not respond on {host}', 'Nothing responds on {host}'],
    cause: [
      'The job tried to connect to {host} ({service}, which the job itself must provide), but nothing ' +
        'listens there. It was not started, or it was not ready yet.',
      'The job tried to connect to {host}, which the job itself must provide, but nothing listens there.',
    ],
    fix: [
      [
        'configuration',
        'Start {service} in the job (as a service container or in an earlier step) and wait until {host} ' +
          'accepts connections before the step runs.',
      ],
      [
        'configuration',
        'Start the service that listens on {host} in an earlier step, and wait until it accepts connections.',
      ],
    ],
  },
  'tie-2-refused-by-foreign-service': {
    apply: blameForeignService,
    title: '{host} refused the connection',
    cause: 'The job tried to connect to {host}, an external service, but nothing accepted the connection.',
    fix: [['rerun', 'Run the job again once {host} accepts connections.']],
  },
  'tie-3-own-module-missing': {
    apply: blameMissingOwnModule,
    reads: [
      /cannot import name '?(?<name>\w{1,80})'? from (?:partially initialized module )?'?(?<from>[\w.]{1,120})/,
    ],
    title: '{from} does not define {name}, which the code imports',
    cause: [
      '{place} imports {name} from {from}, which does not define it.',
      'The code imports {name} from {from}, which does not define it.',
    ],
    fix: [
      ['code', 'Define {name} in {from}, or correct the import at {place}.'],
      ['code', 'Define {name} in {from}, or correct the import if it was moved or renamed.'],
      ['code', correctImport],
    ],
  },
  'tie-3-compiler-misses-a-package': {
    apply: blameMissingPackage,
  },
  'tie-4-error-inside-a-dependency': {
    apply: blameDependencyError,
  },
  'tie-4-upgrade-broke-its-users': {
    apply: upgradeBrokeUsers,
  },
  'tie-5-registry-refused-access': {
    apply: blameRegistryRefusal,
    reads: [
      /\bE(?<code>40[13])\b/,
      /\b(?<code>40[13])\b/,
      /^ {2,8}(?<empty>[A-Z][A-Z0-9_]{2,60}(?:TOKEN|KEY|SECRET|PASSWORD)[A-Z0-9_]{0,20}): ?$/,
    ],
    title: ['{host} denied access ({code})', 'The package registry denied access ({code})'],
    cause: [
      '{host} rejected the request ({code}) because {empty} is empty in this job.',
      'The registry rejected the request ({code}) because {empty} is empty in this job.',
      '{host} rejected the request ({code}) because the credentials of this step are missing, expired, ' +
        'or not authorized.',
      'The registry rejected the request ({code}) because the credentials of this step are missing, ' +
        'expired, or not authorized.',
    ],
    fix: [
      [
        'ask',
        'Set a value for {empty}: create the secret, or correct its name in the workflow. Jobs triggered ' +
          'by forks do not receive secrets.',
      ],
      [
        'ask',
        'Check that the credentials for {host} are passed to the step, have not expired, and allow what ' +
          'it requests ({code}).',
      ],
    ],
  },
  'tie-5-registry-was-down': {
    apply: blameRegistryOutage,
    reads: [
      /\b(?<answer>(?:429|50\d) [A-Z][a-zA-Z]{2,20}(?: [A-Z][a-zA-Z]{2,20}){0,2})/,
      /\b(?<answer>429|50\d)\b/,
    ],
    title: '{host} returned {answer}',
    cause:
      'A request to {host} returned {answer}. The server failed; the request itself was not the problem.',
    fix: [
      [
        'rerun',
        'Run the job again once {host} responds. It returned {answer}, and your project is not involved.',
      ],
    ],
  },
  'tie-5-version-never-published': {
    apply: blameUnpublishedVersion,
  },
};

/**
 * Advises to correct the import of a file. Returns null for an absolute path, because such a file is run and
 * not imported.
 */
function correctImport(read: (slot: string) => string | null): string | null {
  const module = read('module');
  if (module === null || module.startsWith('/')) return null;
  return `Correct the import of ${module}, or commit the file that it refers to.`;
}

/** Blames the runtime instead of the code if a name is missing in the running version. */
function blameRuntimeVersion(facts: Facts): TieRuling | null {
  const fact = facts.all.find(
    ({ text, weight }) => weight >= HEEDED && findMismatch(text, facts.subject)?.isFromTable === true,
  );
  if (fact === undefined) return null;
  return {
    category: 'CONFIG_ERROR',
    kind: 'environment',
    strength: 5.5 * fact.weight,
    fact,
    drop: ({ rule }) => hasTrait(rule.kind, 'name-missed'),
  };
}

/** The minimum weight of a message whose required version is checked. */
const HEEDED = 0.4;

/** Rules that say that a run was stopped, without the reason. */
const STOPPED: ReadonlySet<string> = new Set(['job-cancelled', 'exit-by-signal']);

/** Blames a time limit if a run was stopped when a usual limit had run out, and nothing else failed. */
function blameTimeLimit(facts: Facts, matches: readonly Match[]): TieRuling | null {
  const limit = findReachedLimit(facts.subject);
  if (limit === null || facts.assertion !== null || facts.compileErrors.length > 0) return null;
  if (matches.some(({ rule, strength }) => strength >= SAID_ELSE && !STOPPED.has(rule.name))) return null;
  const { source, line } = limit.stopped.at;
  const fact = facts.all.find((candidate) => candidate.source === source && candidate.line === line);
  if (fact === undefined) return null;
  const drop = ({ rule }: Match) => STOPPED.has(rule.name);
  return { category: 'INFRA_ERROR', kind: 'timeout', strength: 4, fact, drop };
}

/** The minimum logits of a rule that names another cause than the time. */
const SAID_ELSE = 2.5;

function blameThrowingTest(facts: Facts, matches: readonly Match[]): TieRuling | null {
  const thrown = matches.find(
    (match) => THROWN.test(match.rule.name) && ['test', 'exception', 'headline'].includes(match.fact.origin),
  );
  if (thrown === undefined || facts.assertion !== null || facts.subject.failingTests.length === 0)
    return null;
  // A test throws an exception for what it waited for in vain, such as a snapshot or an event.
  const isExpectation = ({ rule, fact, strength }: Match) =>
    rule.category === 'TEST_FAILURE' && strength >= TELLS && saysTheSame(fact, thrown.fact);
  if (matches.some(isExpectation)) return null;
  const drop = (match: Match) => match.rule.category === 'TEST_FAILURE';
  return {
    category: 'CODE_ERROR',
    kind: thrown.rule.kind,
    strength: thrown.strength + 0.5,
    fact: thrown.fact,
    drop,
    like: thrown.rule,
  };
}

function saysTheSame(fact: Fact, other: Fact): boolean {
  return fact.text.includes(other.text) || other.text.includes(fact.text);
}

const RESOURCES: ReadonlySet<string> = new Set(['out-of-memory', 'disk-full', 'too-many-descriptors']);
const OWN_WORDS: ReadonlySet<string> = new Set(['test', 'exception', 'headline', 'message']);

/**
 * Blames the machine if the failure says that memory, disk or descriptors ran out, even inside a test or with
 * a trace of the project's code. Does not apply if the trace shows that the code requested unlimited memory.
 */
function blameExhaustedResource(facts: Facts, matches: readonly Match[]): TieRuling | null {
  const isSaid = ({ origin, weight }: Fact) => OWN_WORDS.has(origin) && weight >= SAID;
  const exhausted = matches.find(({ rule, fact }) => RESOURCES.has(rule.name) && isSaid(fact));
  if (exhausted === undefined || facts.assertion !== null || facts.compileErrors.length > 0) return null;
  if (facts.subject.exceptions.some(asksWithoutEnd)) return null;
  const drop = ({ rule }: Match) => rule.category === 'CODE_ERROR' || rule.category === 'TEST_FAILURE';
  const { rule, fact, strength } = exhausted;
  return { category: 'INFRA_ERROR', kind: rule.kind, strength, fact, drop, like: rule };
}

/** The minimum weight of a message that is about the failure. */
const SAID = 0.8;

function blameOwnService(_facts: Facts, matches: readonly Match[]): TieRuling | null {
  const refused = matches.find((match) => match.rule.name === 'connection-refused');
  if (refused === undefined || findOwnService(refused.fact.text) === null) return null;
  const drop = (match: Match) => match.rule.category === 'INFRA_ERROR' && match.rule.kind === 'network';
  return {
    category: 'CONFIG_ERROR',
    kind: 'workflow_config',
    strength: 4.4 * refused.fact.weight,
    fact: refused.fact,
    drop,
  };
}

function blameForeignService(_facts: Facts, matches: readonly Match[]): TieRuling | null {
  const refused = matches.find((match) => match.rule.name === 'connection-refused');
  if (refused === undefined || findOwnService(refused.fact.text) !== null) return null;
  const strength = /\b[\w-]{2,63}\.[\w.-]{2,120}:\d{2,5}\b/.test(refused.fact.text) ? 4 : 2.6;
  return {
    category: 'INFRA_ERROR',
    kind: 'network',
    strength: strength * refused.fact.weight,
    fact: refused.fact,
    drop: () => false,
  };
}

function blameMissingOwnModule(facts: Facts): TieRuling | null {
  const fact = facts.all.find(
    (entry) => readMissingModule(entry.text) !== null && isOwnModule(entry.text, facts),
  );
  if (fact === undefined) return null;
  const name = readMissingModule(fact.text) ?? '';
  const absolute = /^(?:\/|[A-Za-z]:\\)/.test(name);
  const drop = (match: Match) =>
    match.rule.kind === 'missing_module' || match.rule.name === 'import-name-gone';
  const strength = 4.4 * fact.weight;
  if (isMappedName(name)) return { category: 'CONFIG_ERROR', kind: 'missing_module', strength, fact, drop };
  if (absolute) return { category: 'CONFIG_ERROR', kind: 'missing_file', strength, fact, drop };
  return { category: 'CODE_ERROR', kind: 'missing_module', strength, fact, drop };
}

/** Blames the dependency if the compiler only reports packages that it cannot find. */
function blameMissingPackage(facts: Facts, matches: readonly Match[]): TieRuling | null {
  const missing = matches.find(
    (match) => match.rule.kind === 'missing_module' && match.rule.category === 'DEPENDENCY_ERROR',
  );
  const errors = facts.subject.diagnostics.filter((entry) => entry.severity === 'error');
  const all = errors.length > 0 && errors.every((entry) => MISSING_PACKAGE.test(entry.message));
  if (missing === undefined || !all) return null;
  const drop = (match: Match) => match.rule.kind === 'compile_error' || match.rule.kind === 'type_error';
  return {
    category: 'DEPENDENCY_ERROR',
    kind: 'missing_module',
    strength: missing.strength,
    fact: missing.fact,
    drop,
    like: missing.rule,
  };
}

const MISSING_PACKAGE =
  /Cannot find (?:module|package|type definition)|Can't resolve|no required module provides|unresolved import|can't find crate|no such module|No module named|Could not (?:resolve|find) |library stubs|\.h: No such file/;

function blameDependencyError(facts: Facts, matches: readonly Match[]): TieRuling | null {
  const compiled = matches.find(
    (match) => match.rule.kind === 'compile_error' || match.rule.kind === 'type_error',
  );
  if (compiled === undefined) return null;
  const errors = facts.subject.diagnostics.filter(
    (entry) => entry.severity === 'error' && entry.file !== null,
  );
  const inside =
    errors.length > 0
      ? errors.every((entry) => isForeignPath(entry.file ?? ''))
      : isForeignPath(readLeadingPath(compiled.fact, facts));
  if (!inside) return null;
  const drop = (match: Match) => match.rule.kind === compiled.rule.kind;
  return {
    category: 'DEPENDENCY_ERROR',
    kind: 'version_conflict',
    strength: compiled.strength,
    fact: compiled.fact,
    drop,
  };
}

/**
 * Returns the path at the beginning of a compiler's line, which is needed for lines that no extractor read.
 */
function readLeadingPath(fact: Fact, facts: Facts): string {
  const line =
    facts.all.find(
      (entry) => entry.origin === 'line' && entry.line === fact.line && entry.source === fact.source,
    ) ?? fact;
  return /^(?:\S{1,10}: )?(\S{1,400}?)[(:]\d/.exec(line.text)?.[1] ?? '';
}

function upgradeBrokeUsers(facts: Facts, matches: readonly Match[]): TieRuling | null {
  const compiled = matches.find(
    (match) =>
      match.rule.category === 'CODE_ERROR' &&
      ['compile_error', 'type_error', 'link_error'].includes(match.rule.kind),
  );
  if (compiled === undefined || !showsUpgrade(facts)) return null;
  const drop = (match: Match) => match.rule.category === 'CODE_ERROR';
  return {
    category: 'DEPENDENCY_ERROR',
    kind: 'version_conflict',
    strength: compiled.strength,
    fact: compiled.fact,
    drop,
  };
}

function showsUpgrade(facts: Facts): boolean {
  if (/^(?:dependabot|renovate|deps?|bump)[/-]/.test(facts.subject.build.branch ?? '')) return true;
  return facts.all.some((fact) =>
    /\b(?:[Bb]ump(?:s|ing)?|[Uu]pgrad(?:e|es|ing)|[Uu]pdat(?:e|es|ing)) \S{1,120} (?:from|\() ?v?\d[\w.]{0,30} (?:to|=>|->) v?\d/.test(
      fact.text,
    ),
  );
}

function blameRegistryRefusal(facts: Facts): TieRuling | null {
  return ruleByRegistryStatus(
    facts,
    [401, 403],
    'CONFIG_ERROR',
    'permission_or_secret',
    (match) => match.rule.kind === 'dependency_install',
  );
}

function blameRegistryOutage(facts: Facts): TieRuling | null {
  const fact = facts.all.find((entry) =>
    [429, 500, 502, 503, 504].includes(readRegistryStatus(entry.text) ?? 0),
  );
  const kind: Kind =
    fact !== undefined && readRegistryStatus(fact.text) === 429 ? 'rate_limited' : 'service_unavailable';
  const drop = (match: Match) =>
    match.rule.category === 'DEPENDENCY_ERROR' && match.rule.kind === 'dependency_install';
  return ruleByRegistryStatus(facts, [429, 500, 502, 503, 504], 'INFRA_ERROR', kind, drop);
}

function blameUnpublishedVersion(facts: Facts, matches: readonly Match[]): TieRuling | null {
  // A 404 when publishing means that the name must not be published; nothing is missing.
  const stale = facts.all.some((fact) => /E: Failed to fetch|\bNot Found - PUT https?:/.test(fact.text));
  if (stale) return null;
  const drop = (match: Match) => match.rule.name === 'download-failed';
  const ruling = ruleByRegistryStatus(facts, [404], 'DEPENDENCY_ERROR', 'dependency_install', drop);
  // The package manager's own rule has the sentences for what is missing.
  const like = matches.find(
    ({ rule }) => rule.kind === 'dependency_install' && rule.cause !== undefined,
  )?.rule;
  return ruling === null || like === undefined ? ruling : { ...ruling, like };
}

function ruleByRegistryStatus(
  facts: Facts,
  statuses: readonly number[],
  category: Category,
  kind: Kind,
  drop: TieRuling['drop'],
): TieRuling | null {
  const candidates = facts.all.filter(
    (fact) => !/rate limit/i.test(fact.text) && statuses.includes(readRegistryStatus(fact.text) ?? 0),
  );
  const fact = candidates.sort((left, right) => right.weight - left.weight)[0];
  return fact === undefined || fact.weight < 0.5
    ? null
    : { category, kind, strength: 4.4 * fact.weight, fact, drop };
}
