import { type Analysis, isNotDevelopersFault } from './analysis.ts';
import { type Category, getKindRow, hasTrait, isUnstable, type Kind } from './category.ts';
import type { Failure } from './failure.ts';
import type { FileRole } from './file-role.ts';
import type { GradedAnswer, GradeQuestion, Outcome, OutcomeGrade, QuestionGrade } from './outcome.ts';
import { type AssessedResolution, assessResolution, isMerge } from './resolution.ts';
import type { WhoseVerdict } from './whose.ts';

/** The parts of an answer that are graded, and the party that it held responsible. */
export interface GradableAnswer {
  readonly analysis: Pick<Analysis, 'category' | 'kind' | 'classification' | 'answer'>;
  readonly failures: readonly Failure[];
  /** The verdict that the author of a change saw. Null on the default branch, or if there was none. */
  readonly whose: WhoseVerdict | null;
}

/**
 * Grades an answer by what happened next. A question that the outcome does not settle is doubtful. An answer
 * is wrong only if the fix certainly belongs to the failure and has another category. Nothing is graded if
 * the failure may have been suppressed instead of fixed.
 */
export function gradeAnswer(answer: GradableAnswer, outcome: Outcome): GradedAnswer {
  const suspects = answer.analysis.answer.suspects.map(({ path }) => path);
  const read = assessResolution(outcome, answer.failures, suspects);
  const { doubt } = read.resolution;
  const facts: Facts = { ...answer, read, isSure: isSureFix(answer, outcome, read), outcome };
  const grades = GRADERS.flatMap(([question, grade]): QuestionGrade[] => {
    const found = grade(facts);
    if (found === null) return [];
    return [doubt === null ? { question, ...found } : { question, grade: 'doubtful', because: doubt }];
  });
  return { mend: read.resolution, grades };
}

type Found = Pick<QuestionGrade, 'grade' | 'because'>;

interface Facts extends GradableAnswer {
  readonly read: AssessedResolution;
  /** True if the change certainly fixed the failure. */
  readonly isSure: boolean;
  readonly outcome: Outcome;
}

const GRADERS: readonly (readonly [GradeQuestion, (facts: Facts) => Found | null])[] = [
  ['category', gradeCategory],
  ['suspect', gradeSuspect],
  ['transient', gradeTransient],
  ['excuse', gradeExcuse],
  ['advice', gradeAdvice],
];

/**
 * The duration in milliseconds from which on a failure over several builds is assumed to be fixed by the
 * change.
 */
const LASTING_MS = 30 * 60_000;

/**
 * Tells whether the change certainly fixed the failure: the failure names something that changed, or it does
 * not look transient and either lasted over several builds or has changed code near it.
 */
function isSureFix(
  { analysis }: GradableAnswer,
  { times, since, red }: Outcome,
  read: AssessedResolution,
): boolean {
  if (read.resolution.kind !== 'change') return false;
  if (read.isLinked) return true;
  // A machine or a service may be unavailable for hours.
  if (analysis.category === 'INFRA_ERROR' || readSaidTransience(analysis) === true) return false;
  const hasLasted = times > 1 && Date.parse(red.receivedAt) - Date.parse(since) >= LASTING_MS;
  return hasLasted || read.isNear;
}

/** The category that a fix points to, and the categories that it does not rule out. */
interface Shown {
  readonly category: Category;
  /** A category that is also right, by the definition of the categories. */
  readonly accepted?: Category;
  readonly also: readonly Category[];
  /** The fix, in words. */
  readonly by: string;
}

function gradeCategory(facts: Facts): Found {
  const { category } = facts.analysis;
  const evident = showCategory(facts);
  if (evident === null) return { grade: 'doubtful', because: 'what fixed it fits several categories' };
  const { resolution } = facts.read;
  const isPlausible = resolution.kind !== 'change' || facts.isSure;
  if ((evident.category === category || evident.accepted === category) && isPlausible)
    return { grade: 'right', because: evident.by };
  if (evident.also.includes(category))
    return { grade: 'doubtful', because: `${evident.by}, which fits several categories` };
  const isProven = resolution.kind === 'rerun' || facts.isSure;
  return isProven && evident.category !== category
    ? { grade: 'wrong', because: evident.by }
    : { grade: 'doubtful', because: `${evident.by}, and it may have gone away by itself` };
}

function showCategory(facts: Facts): Shown | null {
  const { kind } = facts.read.resolution;
  if (kind === 'rerun' || kind === 'nothing') return showByRerun(facts);
  if (kind !== 'change') return null;
  const { roles } = facts.read;
  const has = (role: FileRole) => roles.has(role);
  const isCode = has('code') || has('test');
  const isSetup = has('workflow') || has('settings');
  if (isCode && !isSetup && !has('dependency')) return showByCode(facts);
  if (isSetup && !isCode && !has('dependency')) {
    // The contents of settings count as code for some people, and settings set up machines and packages.
    const also: Category[] = ['CODE_ERROR', 'DEPENDENCY_ERROR', 'INFRA_ERROR'];
    return { category: 'CONFIG_ERROR', also, by: 'only settings were changed' };
  }
  if (has('dependency') && !isCode && !isSetup) {
    // A version of a runtime or library that the project chose is a setting as well.
    const also: Category[] = hasTrait(facts.analysis.kind, 'gate')
      ? ['CONFIG_ERROR', 'CODE_ERROR']
      : ['CONFIG_ERROR'];
    return { category: 'DEPENDENCY_ERROR', also, by: 'only dependencies were changed' };
  }
  return null;
}

/** The time, in milliseconds, within which an outside cause is unlikely to have been fixed. */
const SOON_MS = 2 * 3_600_000;
/** Determines the category of a failure that passes again without a change. */
function showByRerun({ failures, analysis: { kind }, outcome: { red, green } }: Facts): Shown {
  const isTest = failures.some(({ test }) => test !== null);
  const also: Category[] = ['INFRA_ERROR', 'TEST_FAILURE'];
  if (getKindRow(kind).group !== 'source') also.push('CODE_ERROR');
  const isSoon = Date.parse(green.receivedAt) - Date.parse(red.receivedAt) < SOON_MS;
  if (!isSoon || hasTrait(kind, 'fixed-unseen')) also.push('CONFIG_ERROR', 'DEPENDENCY_ERROR');
  return { category: isTest ? 'TEST_FAILURE' : 'INFRA_ERROR', also, by: 'it passed again without a change' };
}

function showByCode({ failures, analysis, read }: Facts): Shown {
  const onlyTests = !read.roles.has('code');
  const by = onlyTests ? 'only tests were changed' : 'code was changed';
  // Gates, scripts and paths count as settings for some people.
  const also: Category[] = ['CONFIG_ERROR'];
  if (hasTrait(analysis.kind, 'files-of-others')) also.push('DEPENDENCY_ERROR');
  const tests = failures.flatMap(({ test }) => test ?? []);
  const isTest = tests.length === failures.length && tests.length > 0;
  // A wrong value may come from the code or from the test.
  if (isTest && tests.every(statesExpectation))
    return { category: 'TEST_FAILURE', also: [...also, 'CODE_ERROR'], by };
  // An exception of the code in a test is accepted as either.
  if (isTest && !onlyTests) return { category: 'CODE_ERROR', accepted: 'TEST_FAILURE', also, by };
  if (isTest) return { category: 'TEST_FAILURE', also: [...also, 'CODE_ERROR'], by };
  return { category: 'CODE_ERROR', also: [...also, 'TEST_FAILURE'], by };
}

/** Tells whether a test failed because a value was not as expected. */
function statesExpectation({ expected, actual, message }: NonNullable<Failure['test']>): boolean {
  if (expected !== null || actual !== null) return true;
  return message !== null && /assert|expect/i.test(message.slice(0, 2_000));
}

function gradeSuspect({ analysis, read, isSure }: Facts): Found | null {
  const { suspects } = analysis.answer;
  const { kind, files } = read.resolution;
  if (suspects.length === 0 || kind === 'rerun' || kind === 'nothing') return null;
  const hit = suspects.find(({ path }) => files.includes(path));
  if (hit !== undefined) return { grade: 'right', because: `${hit.path} was changed` };
  return isSure
    ? { grade: 'wrong', because: 'none of them was changed' }
    : { grade: 'doubtful', because: 'none of them was changed, and it may have gone away by itself' };
}

/** The probability from which on an answer predicts that a rerun passes. */
const SAYS_TRANSIENT = 0.5;

function readSaidTransience({ category, kind, answer }: GradableAnswer['analysis']): boolean | null {
  if (answer.transient !== undefined) return answer.transient >= SAYS_TRANSIENT;
  return category === 'INFRA_ERROR' || isUnstable(kind) || answer.act === 'rerun' ? true : null;
}

function gradeTransient({ analysis, read, isSure, outcome }: Facts): Found | null {
  const claimed = readSaidTransience(analysis);
  if (claimed === null) return null;
  const truth = readTransience(analysis.kind, read, isSure, outcome);
  if (truth === null)
    return { grade: 'doubtful', because: 'nothing shows whether a re-run would have passed' };
  return { grade: toGrade(claimed === truth.is), because: truth.because };
}

interface Truth {
  readonly is: boolean;
  readonly because: string;
}

/** Determines whether the failure was transient. Returns null if this is not known. */
function readTransience(
  kind: Kind,
  { resolution }: AssessedResolution,
  isSure: boolean,
  outcome: Outcome,
): Truth | null {
  // A secret or setting may have been changed in the meantime, which no commit shows.
  if (resolution.kind === 'rerun' && kind === 'permission_or_secret') return null;
  if (resolution.kind === 'rerun' || resolution.kind === 'nothing')
    return { is: true, because: 'it passed again without a change' };
  if (resolution.kind !== 'change') return null;
  if (outcome.failedAgain > 0) return { is: false, because: 'the same commit failed again' };
  return isSure ? { is: false, because: 'a change fixed it' } : null;
}

/** Grades "not your change": whether the branch's own change had to be fixed. */
function gradeExcuse({ whose, analysis, read, isSure, outcome }: Facts): Found | null {
  if (whose === null || whose === 'unknown') return null;
  const { change } = outcome;
  const brings = change?.isRewritten === true || change?.commits.some(isMerge) === true;
  // The default branch may have brought a fix by others.
  if (whose !== 'change' && read.resolution.kind === 'change' && brings)
    return { grade: 'doubtful', because: 'the branch took in changes of others' };
  if (whose === 'environment' && read.resolution.kind === 'change') return gradeByPin(read);
  const transience = readTransience(analysis.kind, read, isSure, outcome);
  if (transience === null) return { grade: 'doubtful', because: 'nothing shows whose change it was' };
  if (whose === 'change') {
    // A flaky test of the change itself passes again as well.
    return transience.is
      ? { grade: 'doubtful', because: transience.because }
      : { grade: 'right', because: transience.because };
  }
  return { grade: toGrade(transience.is), because: transience.because };
}

const PINNING: ReadonlySet<FileRole> = new Set<FileRole>(['dependency', 'workflow', 'settings']);

/**
 * Grades the statement that the environment changed, if the author fixed it by pinning a version or adapting
 * to it.
 */
function gradeByPin({ roles }: AssessedResolution): Found {
  return roles.size > 0 && [...roles].every((role) => PINNING.has(role))
    ? { grade: 'right', because: 'only what it runs with was set' }
    : { grade: 'doubtful', because: 'the code may have had to follow a new version' };
}

function gradeAdvice({ analysis, read, isSure }: Facts): Found | null {
  const { answer } = analysis;
  const { kind, files } = read.resolution;
  if (answer.fixRecommendation === '' || answer.act === 'ask') return null;
  const isRerun = kind === 'rerun' || kind === 'nothing';
  if (answer.act === 'rerun') {
    if (isRerun) return { grade: 'right', because: 'running it again helped' };
    return isSure ? { grade: 'wrong', because: 'a change fixed it' } : OPEN;
  }
  if (isRerun)
    return isNotDevelopersFault(analysis) ? OPEN : { grade: 'wrong', because: 'nothing had to be changed' };
  if (kind !== 'change') return OPEN;
  const named = listNamedFiles(answer.fixRecommendation);
  const hit = files.find((path) => named.some((name) => path === name || path.endsWith(`/${name}`)));
  if (hit !== undefined) return { grade: 'right', because: `${hit} was changed, as advised` };
  if (named.length > 0 && isSure)
    return { grade: 'wrong', because: 'the file that it names was not changed' };
  const advised = answer.act == null ? undefined : ROLES_BY_ACT[answer.act];
  if (named.length > 0 || advised === undefined) return OPEN;
  const fits = advised.some((role) => read.roles.has(role));
  if (fits) return { grade: 'right', because: `what was changed is ${answer.act}, as advised` };
  return isSure ? { grade: 'wrong', because: `no ${answer.act} was changed` } : OPEN;
}

const OPEN: Found = { grade: 'doubtful', because: 'nothing shows whether it helped' };

const ROLES_BY_ACT: Readonly<Partial<Record<string, readonly FileRole[]>>> = {
  code: ['code', 'test'],
  configuration: ['workflow', 'settings'],
  dependency: ['dependency'],
};

const NAMED_FILE = /[\w@.-]{1,80}(?:\/[\w@.-]{1,80}){0,12}\.[A-Za-z]\w{0,7}(?![\w/.(])/g;

/** Lists the files that the advice names. */
function listNamedFiles(advice: string): string[] {
  return (
    advice
      .slice(0, 4_000)
      .match(NAMED_FILE)
      ?.filter((name) => !/^\d/.test(name)) ?? []
  );
}

function toGrade(isRight: boolean): OutcomeGrade {
  return isRight ? 'right' : 'wrong';
}
