import { type Claim, type Classification, QUOTES_ONLY } from '../domain/analysis.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { Diagnostic, LogPosition } from '../domain/failure.ts';
import { findLastingFailure } from '../domain/lasting-failure.ts';
import { takeFirstOfEach } from '../lib/collections.ts';
import { isUninformative } from '../log/line-roles.ts';
import type { Ruling } from './classify.ts';
import {
  findConfirmedEntry,
  findFittingDocument,
  findNamingDocument,
  findPrecedent,
  findSeenElsewhere,
  listTouches,
  type Retrieved,
  readRepositoryFacts,
} from './evidence-facts.ts';
import type { Fact } from './facts.ts';
import type { Value } from './sentence.ts';
import { rankSuspects } from './suspects.ts';
import { claimStated, findUpgrades, stateArtifacts, stateUpgrade } from './versions/upgrades.ts';
import { getToolName, type Quotation, quoteFact, quoteLine, quoteText, toOneLine } from './wording.ts';

const MAX_CLAIMS = 8;

/** Builds claims with evidence: each cites it, and quotations of the log are literally on their line. */
export function buildClaims(
  rootCause: string,
  fact: Fact | null,
  used: readonly Value[],
  ruling: Ruling,
  classification: Classification,
  evidence: readonly Evidence[],
  change: Claim | null,
): Claim[] {
  const main = fact === null ? null : quoteFact(fact, evidence);
  const candidates: (Claim | null)[] = [
    main === null ? null : withValues(claim(rootCause, main), used, ruling, evidence),
    change,
    ...buildPeopleClaims(evidence),
    ...buildVersionClaims(ruling, classification, evidence),
    ...testClaims(ruling, evidence),
    ...placeClaims(ruling, evidence),
    buildInformativeClaim(ruling, main, evidence),
    buildLastingClaim(evidence),
    findSeenElsewhere(ruling.facts.subject, evidence)?.claim ?? null,
  ];
  // The exit is claimed only if no line says why the step failed.
  const ended = candidates.every((entry) => entry === null) ? [buildExitClaim(ruling, evidence)] : [];
  const all = [
    ...candidates,
    ...ended,
    ...buildRetrievedClaims(classification, evidence),
    ...commitClaims(ruling, classification, evidence),
  ];
  const made = all.filter((entry) => entry !== null);
  return takeFirstOfEach(made, ({ text }) => text).slice(0, MAX_CLAIMS);
}

/** States the changes of versions, and the artifacts that the failure is about. */
function buildVersionClaims(
  { facts }: Ruling,
  { category }: Classification,
  evidence: readonly Evidence[],
): (Claim | null)[] {
  if (category === 'INFRA_ERROR') return [];
  const upgrades = findUpgrades(facts.subject, evidence).map((upgrade) => {
    const item = evidence.find(({ id }) => id === upgrade.evidenceId);
    const stated = stateUpgrade(upgrade);
    return item === undefined ? claimStated(stated, evidence) : cite(stated.text, item);
  });
  return [...upgrades, ...stateArtifacts(facts.subject).map((stated) => claimStated(stated, evidence))];
}

/** States since when the job has failed this way. Returns null if it is a single failure. */
function buildLastingClaim(evidence: readonly Evidence[]): Claim | null {
  const lasting = findLastingFailure(evidence);
  if (lasting === null) return null;
  return cite(
    `The job has failed this way ${lasting.times} times in a row, since #${lasting.since}.`,
    lasting.item,
  );
}

/** Quotes the most informative lines, except the decisive one. Returns null if there are none. */
function buildInformativeClaim(
  { facts }: Ruling,
  main: Quotation | null,
  evidence: readonly Evidence[],
): Claim | null {
  const best = facts.subject.messages.filter(({ weight }) => weight >= NEARLY_BEST).slice(0, MAX_INFORMATIVE);
  const quotations = best
    .flatMap((message) => quoteAt(message.at, evidence) ?? [])
    .filter(({ quote }) => quote.line !== main?.quote.line);
  const [first] = quotations;
  if (first === undefined) return null;
  const quotes = quotations.map(({ quote }) => quote).sort((a, b) => a.line - b.line);
  return {
    text: QUOTES_ONLY,
    evidence: [...new Set(quotations.map(({ evidenceId }) => evidenceId))],
    quotes,
  };
}

/** The maximum number of messages that are quoted as informative, and the minimum weight of each. */
const [MAX_INFORMATIVE, NEARLY_BEST] = [3, 30];

/**
 * Checks whether a diagnostic is an error, except for repetitions by make and the closing lines of compilers.
 */
function isInformativeError({ severity, tool, message }: Diagnostic): boolean {
  return severity === 'error' && tool !== 'make' && !isUninformative(message);
}

/**
 * Adds the lines from which the sentences took values, and those in which a test shows expected and actual
 * value.
 */
function withValues(
  main: Claim,
  used: readonly Value[],
  ruling: Ruling,
  evidence: readonly Evidence[],
): Claim {
  const [quote] = main.quotes;
  if (quote === undefined) return main;
  const isTest = ruling.facts.subject.failingTests.length > 0;
  const below = isTest
    ? [1, 2, 3, 4].flatMap((offset) => quoteLine(quote.source, quote.line + offset, evidence) ?? [])
    : [];
  const withValue = below.filter(({ quote: { text } }) => VALUE.test(text)).slice(0, 2);
  const read = used.flatMap(
    ({ source, line }) => quoteAt(source === null || line === null ? null : { source, line }, evidence) ?? [],
  );
  const all = takeFirstOfEach(
    [{ evidenceId: main.evidence[0] ?? '', quote }, ...read, ...withValue],
    ({ quote: quotation }) => `${quotation.source}:${quotation.line}`,
  );
  const chosen = all.slice(0, MAX_QUOTES);
  return {
    ...main,
    evidence: [...new Set(chosen.map(({ evidenceId }) => evidenceId))],
    quotes: chosen.map((quotation) => quotation.quote),
  };
}

/** The maximum number of lines that one claim quotes. */
const MAX_QUOTES = 6;

const VALUE =
  /^(?:[-+] )?\s{0,20}(?:E\s{1,8})?(?:expected|received|actual|got|want|left|right|but was)\b\s{0,4}[:=]/i;

function testClaims(ruling: Ruling, evidence: readonly Evidence[]): (Claim | null)[] {
  return ruling.facts.subject.failingTests.slice(0, 2).map((test) => {
    const quotation = quoteAt(test.at, evidence) ?? quoteText(test.name, evidence);
    return quotation === null ? null : claim(formatFailedTest(test.name), quotation);
  });
}

/** Formats the claim that a test failed. The entry for a whole test file does not have the name of a test. */
function formatFailedTest(name: string): string {
  if (/\btest suite failed to run\b/i.test(name)) return 'A test file failed before its tests ran.';
  return /^tests?\b/i.test(name) ? `“${name}” failed.` : `Test ${name} failed.`;
}

function placeClaims(ruling: Ruling, evidence: readonly Evidence[]): (Claim | null)[] {
  const errors = ruling.facts.subject.diagnostics
    .filter(isInformativeError)
    .filter((entry) => entry.file !== null || entry.tool === 'tsc' || entry.tool === 'linter');
  return [...errors.slice(0, 3).map(createDiagnosticClaim), quoteEachRule(errors)];

  function createDiagnosticClaim(entry: Diagnostic): Claim | null {
    const quotation = quoteAt(entry.at, evidence);
    const place = entry.line === null ? entry.file : `${entry.file}:${entry.line}`;
    return quotation === null
      ? null
      : claim(
          `${getToolName(entry)} ${place === null ? 'reports the error' : `points to ${place}`}.`,
          quotation,
        );
  }

  /** Quotes the first finding of each rule if several rules were violated. */
  function quoteEachRule(findings: readonly Diagnostic[]): Claim | null {
    const firsts = takeFirstOfEach(findings, ({ tool, code, message }) => `${tool} ${code ?? message}`);
    const quotations = firsts.slice(0, MAX_RULES).flatMap((entry) => quoteAt(entry.at, evidence) ?? []);
    if (firsts.length < 2 || quotations.length < 2) return null;
    const ids = [...new Set(quotations.map(({ evidenceId }) => evidenceId))];
    return {
      text: 'These lines show the first finding of each kind.',
      evidence: ids,
      quotes: quotations.map(({ quote }) => quote),
    };
  }
}

/** The maximum number of rules whose first finding is quoted. */
const MAX_RULES = 10;

function buildExitClaim(ruling: Ruling, evidence: readonly Evidence[]): Claim | null {
  const exit = ruling.facts.subject.exits.at(-1);
  if (exit === undefined || (exit.code === null && exit.signal === null)) return null;
  const quotation = quoteLine(exit.source, exit.line, evidence);
  if (quotation === null) return null;
  return claim(
    exit.signal === null
      ? `The step ended with exit code ${exit.code}.`
      : `The process was terminated by ${exit.signal}.`,
    quotation,
  );
}

function buildRetrievedClaims(
  classification: Classification,
  evidence: readonly Evidence[],
): (Claim | null)[] {
  const confirmed = findConfirmedEntry(evidence, classification.category);
  const document = findFittingDocument(evidence, classification.category, classification.kind);
  return [
    confirmed === null
      ? null
      : cite(
          `${confirmed.confirmedBy} confirmed this cause for an earlier one: ${confirmed.evidence.title}.`,
          confirmed.evidence,
        ),
    document === null
      ? null
      : cite(
          `The knowledge base describes this kind of failure: ${document.evidence.title}.`,
          document.evidence,
        ),
  ];
}

/**
 * States which document of the team names the error and what it advises, and which decision is about a
 * similar failure.
 */
function buildPeopleClaims(evidence: readonly Evidence[]): (Claim | null)[] {
  const [document, precedent] = [findNamingDocument(evidence), findPrecedent(evidence)];
  const fix = document?.fix == null ? 'names this error' : `says what to do: ${toOneLine(document.fix, 300)}`;
  // A fix that is proposed is stated as advice instead.
  const isShown = precedent?.fix != null && !precedent.proposes;
  const decidedFix = isShown ? ` The fix was: ${toOneLine(precedent.fix ?? '', 300)}` : '';
  const decided = `decided a similar failure${precedent === null ? '' : nameOther(precedent)}`;
  return [
    document === null
      ? null
      : cite(
          `Your document “${toOneLine(document.evidence.title, 120)}” ${fix}.`.replace(/\.\.$/, '.'),
          document.evidence,
        ),
    precedent === null
      ? null
      : cite(
          `${precedent.confirmedBy} ${decided}: ${precedent.evidence.title}.${decidedFix}`,
          precedent.evidence,
        ),
  ];
}

/**
 * States who changed the first suspect that has a known commit, and whether the commit is part of this change
 * or since when it has been there.
 */
function commitClaims(ruling: Ruling, { category }: Classification, evidence: readonly Evidence[]): Claim[] {
  const suspect = rankSuspects(ruling.facts.subject, evidence, category).find(
    ({ commit }) => commit !== null,
  );
  if (suspect === undefined) return [];
  const touch = listTouches(suspect.path, readRepositoryFacts(evidence)).find(
    ({ commit }) => commit === suspect.commit,
  );
  const item = evidence.find(({ id }) => id === touch?.evidenceId);
  if (item === undefined) return [];
  if (item.tool !== 'changed_since_green') return [cite(`Last changed by: ${item.title}.`, item)];
  const { path, commit, author, pullRequest } = suspect;
  // Only what the evidence states is named, because the claim is checked against it.
  const who = [commit?.slice(0, 10), author, pullRequest == null ? null : `#${pullRequest}`];
  return [cite(`${path} is part of this change: ${who.filter(Boolean).join(', ')}.`, item)];
}

function quoteAt(position: LogPosition | null, evidence: readonly Evidence[]): Quotation | null {
  return position === null ? null : quoteLine(position.source, position.line, evidence);
}

function claim(text: string, quotation: Quotation): Claim {
  return { text, evidence: [quotation.evidenceId], quotes: [quotation.quote] };
}

function cite(text: string, item: Evidence): Claim {
  return { text, evidence: [item.id], quotes: [] };
}

/** Names the repository of a decision if it is another one. */
export function nameOther({ repository, sameRepository }: Retrieved): string {
  return repository !== null && sameRepository === false ? ` in ${toOneLine(repository, 100)}` : '';
}
