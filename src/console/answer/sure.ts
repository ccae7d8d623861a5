import { type Analysis, isJudged } from '../../domain/analysis.ts';
import { TOO_FEW } from '../../domain/insights.ts';
import { computeProportion } from '../../lib/statistics.ts';
import { round } from '../charts/chart.ts';
import { formatDay } from '../controls.ts';
import { type Html, html, type Shown } from '../html.ts';
import { type Icon, icon } from '../parts/icons.ts';
import type { AnswerFacts } from './facts.ts';

/** The certainty of an answer: its name, its icon, and the reason. */
interface Sureness {
  readonly words: string;
  readonly sign: Html;
  readonly because: string;
}

type SureFacts = Pick<AnswerFacts, 'analysis' | 'review' | 'limit'> & {
  readonly track: Pick<AnswerFacts['track'], 'of' | 'right'>;
};

/** The confidence below which an answer is not sure, whatever else is known. */
const UNSURE_BELOW = 0.5;

/** The grounds for judging an undecided answer. `open` is true if several explanations fit. */
interface Judged {
  readonly confidence: number;
  readonly open: boolean;
}

/** Names how sure an undecided answer is: the only words for it on all pages. */
export function nameSureness({ confidence, open }: Judged, limit: number): string {
  if (open || confidence < UNSURE_BELOW) return 'Not sure';
  return confidence >= limit ? 'Very likely' : 'Likely';
}

/** Reads what the words for an undecided answer depend on. */
export function readJudged({ answer, classification, verdict }: Analysis): Judged {
  const open = answer.hypotheses.length > 1 || classification.abstained;
  return { confidence: verdict.confidence, open };
}

/** Renders how certain the answer is and why. A percentage is never shown. */
export function sureFact(facts: SureFacts): Html {
  const { words, sign, because } = judgeSureness(facts);
  return html`<span class="sure">${sign}${words}</span><p>${because}</p>`;
}

function judgeSureness(facts: SureFacts): Sureness {
  const { analysis, review, limit } = facts;
  const { recalled, experiment, answer } = analysis;
  if (!isJudged(analysis)) return createSureness('unsure', 'Not analyzed', 'The analysis failed.');
  const decision = review?.decision ?? null;
  if (decision !== null && decision.type !== 'reject') {
    const did = decision.type === 'accept' ? 'accepted it' : 'corrected it';
    return createSureness(
      'check',
      'Confirmed by a person',
      `${decision.reviewer} ${did}, ${formatDay(decision.decidedAt)}.`,
    );
  }
  if (recalled !== null) {
    const seen = recalled.timesSeen === 1 ? 'once' : `${recalled.timesSeen} times`;
    const because = `${recalled.confirmedBy}, ${formatDay(recalled.confirmedAt)}. Seen ${seen}.`;
    return createSureness('check', 'Confirmed by a person', because);
  }
  if (experiment?.verdict === 'this-change' || experiment?.verdict === 'not-this-change')
    return createSureness('flask', 'Proven by experiment', findChance(experiment.sentence));
  const words = nameSureness(readJudged(analysis), limit);
  if (words !== 'Not sure') return { words, ...judgeByRecord(facts) };
  const [first] = answer.hypotheses;
  const settledBy = first === undefined ? 'A person was asked.' : `To settle it: ${first.settledBy}`;
  return createSureness('unsure', words, settledBy);
}

/** Judges by the decisions about answers like this one here, or else by measurements elsewhere. */
function judgeByRecord({ analysis, track, limit }: SureFacts): Omit<Sureness, 'words'> {
  const measured = analysis.classification.record;
  if (track.of < TOO_FEW && measured === undefined) {
    const checked =
      track.of === 0 ? 'No answer' : track.of === 1 ? 'Only 1 answer' : `Only ${track.of} answers`;
    const verb = track.of > 1 ? 'were' : 'was';
    return {
      sign: sureBar(0, 1, limit),
      because: `${checked} like this ${verb} checked by people: too few to say more.`,
    };
  }
  const [right, of] =
    track.of >= TOO_FEW ? [track.right, track.of] : [measured?.right ?? 0, measured?.of ?? 0];
  const { low, high } = computeProportion(right, of);
  const where = track.of >= TOO_FEW ? '' : ' in projects it had not seen';
  return {
    sign: sureBar(low, high, limit),
    because: `${right} of ${of} answers like this were right${where}.`,
  };
}

function createSureness(name: Icon, words: string, because: string): Sureness {
  return { words, sign: icon(name), because };
}

/** Returns the sentence of an experiment that gives the probability of its result by chance. */
function findChance(sentence: string): string {
  const sentences = sentence.split(/(?<=\.)\s/);
  return sentences.find((other) => /at random/.test(other)) ?? sentences[0] ?? '';
}

const WIDTH = 56;

/**
 * Draws a track record: black up to the lower end of its interval, gray up to the upper end, and a tick at
 * the current threshold.
 */
function sureBar(low: number, high: number, limit: number): Html {
  const bar = (name: string, x: number, width: number): Shown =>
    html`<rect class="${name}" x="${round(x)}" y="2" width="${round(Math.max(0, width))}"
      height="4" rx="2"/>`;
  return html`<svg viewBox="0 0 ${WIDTH} 8" aria-hidden="true">${bar('track', 0, WIDTH)}${bar(
    'doubt',
    low * WIDTH,
    (high - low) * WIDTH,
  )}${low > 0 && bar('said', 0, low * WIDTH)}<rect class="limit"
    x="${round(limit * WIDTH - 0.75)}" width="1.5"
    height="8"/></svg>`;
}
