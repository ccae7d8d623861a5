import { type DatasetRow, isLabelledBuild } from '../../cases/case.ts';
import type { LabelledFailure } from '../../cases/labelled-failure.ts';
import type { ReplayedCase } from '../../run/replay.ts';
import type { AnalysisResult } from '../../run/results.ts';
import { findAnswers } from './find-answers.ts';
import { holdsWords, normalizeMessage, normalizeWords, saysMessage } from './said-words.ts';

/** A labeled failure together with the answer that names it. */
export interface ScoredFailure {
  readonly failure: LabelledFailure;
  /** True if a linter or compiler reported it. Then only `answer` and `isOwn` are scored. */
  readonly isFinding: boolean;
  readonly answer: AnalysisResult | null;
  /** True if its normalized message is in title, cause, fix, claims or quotations of its answer. */
  readonly isOwn: boolean;
  /**
   * True if the normalized message of a failure with another cause is in the title or fix of its answer, or
   * in the cause if that does not contain its own message. Messages that are part of its own message are
   * ignored.
   */
  readonly mentionsOtherCause: boolean;
  /** True if the answer to a failure with another cause has the same title. */
  readonly hasSharedTitle: boolean;
  /** True if its answer's category is right. */
  readonly isRight: boolean;
}

/** A build whose failures are all labeled. `answers` is empty if the answer is that nothing failed. */
export interface ScoredBuild {
  readonly one: ReplayedCase;
  readonly row: DatasetRow;
  readonly answers: readonly AnalysisResult[];
  readonly failures: readonly ScoredFailure[];
}

/** Scores the cases whose failures are all labeled, or that are known to have no failure. */
export function scoreBuildCases(cases: readonly ReplayedCase[]): ScoredBuild[] {
  return cases.flatMap((replayedCase) =>
    replayedCase.row !== null && isLabelledBuild(replayedCase.row)
      ? [scoreBuild(replayedCase, replayedCase.row)]
      : [],
  );
}

function scoreBuild(replayedCase: ReplayedCase, row: DatasetRow): ScoredBuild {
  const answers = replayedCase.result.failureFound === false ? [] : replayedCase.result.analyses;
  const labelled = row.failures ?? [];
  const answerByFailure = findAnswers(labelled, answers);
  const failures = labelled.map((failure, at): ScoredFailure => {
    const answer = answerByFailure[at] ?? null;
    const others = labelled.filter(({ cause }) => cause !== failure.cause);
    return {
      failure,
      isFinding: failure.finding ?? (failure.test == null && isLinter(row.runner)),
      answer,
      isOwn: answer !== null && saysMessage(listAnswerTexts(answer), failure.message),
      mentionsOtherCause: answer !== null && others.some((other) => mentionsOther(answer, other, failure)),
      hasSharedTitle: labelled.some(
        ({ cause }, place) =>
          cause !== failure.cause && haveSameTitle(answer, answerByFailure[place] ?? null),
      ),
      isRight:
        answer !== null &&
        [failure.category, ...(failure.also_ok ?? [])].some((category) => category === answer.category),
    };
  });
  return { one: replayedCase, row, answers, failures };
}

/** Returns all texts of an answer, including quotations. */
function listAnswerTexts({ title, rootCause, fixRecommendation, claims }: AnalysisResult): string[] {
  const claimed = claims.flatMap(({ text, quotes }) => [text, ...quotes.map((quote) => quote.text)]);
  return [title ?? '', rootCause ?? '', fixRecommendation ?? '', ...claimed];
}

function mentionsOther(
  { title, rootCause, fixRecommendation }: AnalysisResult,
  other: LabelledFailure,
  failure: LabelledFailure,
): boolean {
  const ownLines = normalizeMessage(failure.message);
  if (normalizeMessage(other.message).every((line) => ownLines.some((ownLine) => holdsWords(ownLine, line))))
    return false;
  if ([title ?? '', fixRecommendation ?? ''].some((text) => saysMessage([text], other.message))) return true;
  const cause = [rootCause ?? ''];
  return saysMessage(cause, other.message) && !saysMessage(cause, failure.message);
}

function haveSameTitle(answer: AnalysisResult | null, other: AnalysisResult | null): boolean {
  if (answer === null || other === null || answer === other) return false;
  return normalizeWords(answer.title ?? '') === normalizeWords(other.title ?? '');
}

/** Words in `runner` that name a linter or compiler. */
const LINTERS = new Set(
  (
    'actionlint ansible-lint bandit biome black brakeman buf buildifier cargo-check checkstyle clang ' +
    'clang-format clang-tidy clippy codespell compiler ' +
    'cppcheck credo cspell csc cxx detekt dialyzer eslint flake8 flow fortran gcc gfortran ghc gofmt ' +
    'golangci-lint golint hadolint hlint htmlhint isort ' +
    'javac jshint jsonlint kotlinc ktlint lint linter luacheck markdownlint msvc mypy nox-lint ' +
    'oxlint perlcritic phpcs phpmd phpstan pmd pre-commit ' +
    'prettier psalm pycodestyle pydocstyle pylint pyright revive rubocop ruff rustc rustfmt scalac ' +
    'shellcheck shfmt spectral spotbugs spotless ' +
    'sqlfluff standard staticcheck stylelint swiftc swiftlint tflint tsc typescript vet vint vue-tsc ' +
    'xo yamllint'
  ).split(' '),
);

/**
 * Checks whether a runner is a linter or a compiler, by any word of its name: "golangci-lint 2.1", "go vet",
 * "eslint + tsc".
 */
function isLinter(runner: string | null | undefined): boolean {
  const words = runner?.toLowerCase().match(/[a-z][a-z0-9-]*/g) ?? [];
  return words.some((word) => LINTERS.has(word) || word.split('-').some((part) => LINTERS.has(part)));
}
