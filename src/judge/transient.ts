import { z } from 'zod';
import { getKindRow, hasRerunGroup, RERUN_GROUPS } from '../domain/category.ts';
import type { Evidence } from '../domain/evidence.ts';
import { findLastingFailure } from '../domain/lasting-failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { findMax } from '../lib/collections.ts';
import { classifyByRules, type Ruling } from './classify.ts';
import type { Rule } from './rule.ts';
import stored from './transient.json' with { type: 'json' };

/*
 * Estimates whether a re-run of the same commit would pass. The category does not say this: a full disk and a
 * broken connection are both INFRA_ERROR, and a race in a test is neither. The estimate is a logistic
 * regression over what the reader and the rules know, learned from jobs whose re-run is known or was judged
 * by a reader of the log.
 */

/** Messages about temporary problems, in any wrapping. */
const TROUBLE = {
  'words of a broken connection': [
    /\bnetwork failure\b|spurious network error|early EOF|unexpected disconnect|hung up unexpectedly/i,
    /connection (?:reset|closed|aborted|timed? ?out)|connect(?:ion)? timed? ?out|i\/o timeout/i,
    /TLS handshake|\bSSL error\b|\bECONNRESET\b|\bETIMEDOUT\b|\bEAI_AGAIN\b|name resolution/i,
    /cannot assign requested address|could not resolve host|too many requests|\bLFS: Error\b/i,
    /\b50[234]\b[^\n]{0,40}(?:unavailable|gateway|error)|RPC failed|context deadline exceeded/i,
  ],
  'words of a lost runner': [
    /runner system failure|shutdown signal|lost communication|no such container|docker daemon/i,
    /\bevicted\b|preempted|connection to (?:the )?(?:agent|runner|node)/i,
    /agent .{1,40}(?:offline|disconnected)|error pulling image/i,
    /failed to (?:start|create) (?:the )?(?:pod|container|job|executor)|prepar(?:e|ing|ation) (?:the )?environment/i,
  ],
  'words of a full disk': [/no space left|\bENOSPC\b|disk quota exceeded/i],
  'words of a damaged working copy': [
    /\bbad object\b|not a valid object|unable to read tree|loose object .{1,80}(?:corrupt|empty)/i,
    /index\.lock|\bENOTEMPTY\b|text file busy|resource busy|\bEBUSY\b/i,
    /another (?:git|apt|dpkg|process)\b.{0,60}(?:running|lock)|could not (?:get|acquire) lock/i,
  ],
  'words of a crashed compiler': [
    /internal compiler error|compiler unexpectedly panicked|this is a (?:bug in|compiler bug)/i,
    /\bLLVM ERROR\b|segfault occurred|signal: (?:11|7|6), SIG/i,
  ],
} as const;

/** Steps of the CI system, not of the project. */
const SYSTEM_STEPS = [
  /^(?:get_sources|prepare_executor|prepare_script|download_artifacts|upload_artifacts\w{0,20})\b/i,
  /^(?:restore_cache|archive_cache|resolve_secrets|set up job|initialize containers|checkout|clone|fetch)\b/i,
];

export const TRANSIENT_SIGNS = [
  'always',
  ...RERUN_GROUPS,
  ...Object.keys(TROUBLE),
  'leading rule is for infrastructure',
  'rule for another cause',
  'step of the CI system',
  'ended by a signal',
  'a test passed when it was run again',
  'failing test',
  'assertion',
  'error in a file',
  'exception of ours',
  'nothing tells',
];

export const TransientModel = z.object({
  provenance: z.record(z.string(), z.unknown()),
  signs: z.array(z.string()),
  weights: z.array(z.number()),
});
export type TransientModel = z.infer<typeof TransientModel>;

let loaded: TransientModel | undefined;

/** Reads the model in this folder, once. Throws if it was trained for other signs. */
export function loadTransientModel(): TransientModel {
  if (loaded !== undefined) return loaded;
  const model = TransientModel.parse(stored);
  if (model.signs.join() !== TRANSIENT_SIGNS.join())
    throw new Error(
      'The model of re-runs was learned for other signs; run scripts/train/train-transient.ts.',
    );
  loaded = model;
  return model;
}

/**
 * The change in logits, and the maximum probability, if the pipeline failed in the same way at least three
 * times in a row, so that reruns did not help. Both are estimates.
 */
const [LASTS, LASTS_MOST] = [-2, 0.5];

/** Returns the probability that a rerun of the same commit would pass, 0..1. */
export function estimateTransient(subject: TriageSubject, evidence: readonly Evidence[]): number {
  const { weights } = loadTransientModel();
  const logit = weighSigns(computeTransientSigns(classifyByRules(subject)), weights);
  const isLasting = findLastingFailure(evidence) !== null;
  const share = isLasting ? Math.min(LASTS_MOST, toProbability(logit + LASTS)) : toProbability(logit);
  return Math.round(share * 1000) / 1000;
}

export function weighSigns(signs: readonly number[], weights: ArrayLike<number>): number {
  return signs.reduce((sum, sign, i) => sum + sign * (weights[i] ?? 0), 0);
}

export function toProbability(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

/** The minimum weight of facts that are used. */
const MIN_WEIGHT = 0.2;
/**
 * The factor for the weight of a line. Messages count in full from two thirds of the weight of the most
 * informative line.
 */
const CLEAR = 1.5;
/** The logits of a rule that decides alone. */
const FULL = 5;

/**
 * The factor for such messages if a test failed, because tests often connect to servers that they started
 * themselves.
 */
const IN_A_TEST = 0.35;

/** Computes the values of TRANSIENT_SIGNS, each 0..1. */
export function computeTransientSigns({ facts, matches }: Ruling): number[] {
  const { subject } = facts;
  const informative = facts.all.filter(({ weight }) => weight >= MIN_WEIGHT);
  const best = (isOne: (rule: Rule) => boolean) =>
    Math.min(
      1,
      findMax(
        matches.map(({ rule, strength }) => (isOne(rule) ? strength : 0)),
        0,
      ) / FULL,
    );
  const groups = RERUN_GROUPS.map((group) => best(({ kind }) => getKindRow(kind).group === group));
  const words = Object.values(TROUBLE).map((patterns) => {
    const met = informative.filter(({ text }) => patterns.some((pattern) => pattern.test(text)));
    return Math.min(
      1,
      CLEAR *
        findMax(
          met.map(({ weight }) => weight),
          0,
        ),
    );
  });
  const [first] = matches;
  const trust = subject.failingTests.length > 0 ? IN_A_TEST : 1;
  const { failingTests, exits, diagnostics, failedSections, passedOnRetry = [] } = subject;
  return [
    1,
    ...groups.map((value, i) => (i === 0 ? trust * value : value)),
    ...words.map((value) => trust * value),
    Number(first?.rule.category === 'INFRA_ERROR'),
    best(({ kind, category }) => category !== 'INFRA_ERROR' && !hasRerunGroup(kind)),
    Number(failedSections.some(({ name }) => isSystemStep(name.split(' / ')[0] ?? name))),
    Number(exits.some(({ code, signal }) => signal !== null || (code !== null && code > 128 && code < 160))),
    Number(passedOnRetry.length > 0),
    Number(failingTests.length > 0),
    Number(facts.assertion !== null),
    Number(diagnostics.some(({ severity, file }) => severity === 'error' && file !== null)),
    Number(facts.productException !== null),
    Number(matches.length === 0 && subject.messages.length === 0),
  ];
}

function isSystemStep(name: string): boolean {
  return SYSTEM_STEPS.some((pattern) => pattern.test(name));
}
