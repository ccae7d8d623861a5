import { shortCommit } from '../../domain/build.ts';
import type { Arm, Experiment } from '../../domain/experiment.ts';
import { buildAddress } from '../addresses.ts';
import { type Html, html, type Shown } from '../html.ts';
import type { Tone } from '../parts/marks.ts';
import type { AnswerFacts } from './facts.ts';

/** Whose failure it is: the answer to the first question of whoever opens the page. */
export interface Whose {
  readonly question: string;
  readonly words: string;
  readonly tone: Tone | null;
  readonly proof: Shown;
}

/**
 * Judges whose failure it is, from experiments and from the history of the failure. This is the only place of
 * the console that says so.
 */
export function judgeWhose(facts: AnswerFacts, question = 'Is it me?'): Whose {
  const { analysis, build, green } = facts;
  const tried = judgeTried(analysis.experiment);
  if (tried !== null) return { question, ...tried };
  if (build.pullRequest === null && build.branch !== null) return judgeChange(facts);
  if (green !== null)
    return {
      question,
      words: 'Perhaps not',
      tone: null,
      proof: html`A later run of the same commit passed:
        <a href="${buildAddress(green.id)}">build ${green.number}</a>.`,
    };
  return { question, ...judgeHistory(facts) };
}

function judgeTried(experiment: Experiment | undefined): Omit<Whose, 'question'> | null {
  if (experiment === undefined) return null;
  const proof = html`${experiment.sentence.split(/(?<=\.)\s/)[0]}${runStrips(experiment.arms)}`;
  if (experiment.verdict === 'this-change') return { words: 'Yes, this change broke it', tone: 'red', proof };
  if (experiment.verdict === 'not-this-change')
    return { words: 'No, the base fails the same way', tone: 'green', proof };
  if (experiment.verdict === 'flaky') return { words: 'No, it is flaky', tone: 'green', proof };
  return { words: 'Not known yet', tone: null, proof: experiment.sentence };
}

/** Says on a branch that many people use which change is suspected. */
function judgeChange(facts: AnswerFacts): Whose {
  const { suspects } = facts.analysis.answer;
  const first = suspects.find(({ commit }) => commit !== null);
  const history = judgeHistory(facts);
  if (first?.commit == null) return { question: 'Which change?', ...history };
  return {
    question: 'Which change?',
    words: `${shortCommit(first.commit)}${first.author === null ? '' : ` by ${first.author}`}, perhaps`,
    tone: null,
    proof: history.proof,
  };
}

/** Judges by the history alone: whether the same failure is older than the change. */
function judgeHistory({ past, analysis, build, overlap }: AnswerFacts): Omit<Whose, 'question'> {
  const [last] = past.filter(
    ({ failure, commit }) =>
      failure.fingerprint.value === analysis.fingerprint && (commit === null || commit !== build.commit),
  );
  if (last !== undefined)
    return {
      words: 'Perhaps not',
      tone: null,
      proof: html`The same failure was in <a href="${buildAddress(last.failure.buildId)}">${last.pipeline}
        #${last.number}</a>${last.branch !== null && ` on ${last.branch}`}, before this change.`,
    };
  const [touched] = overlap;
  if (touched !== undefined)
    return {
      words: 'Perhaps: it touches what failed',
      tone: null,
      proof: html`This change touches <code>${touched}</code>, and the failure was not seen before it.`,
    };
  return { words: 'Not known yet', tone: null, proof: 'This failure was not seen before this change.' };
}

const HEIGHT = 20;

/** Draws the runs of an experiment, here and on the base: tall ones failed, low ones passed. */
function runStrips(arms: readonly Arm[]): Html {
  const plain = arms.filter(({ under, what }) => under === undefined && what !== 'after');
  return html`${(['here', 'base'] as const).map((where) => {
    const arm = plain.find((one) => one.where === where);
    return arm !== undefined && html` ${drawRuns(arm)}`;
  })}`;
}

function drawRuns({ where, passed, failed }: Arm): Html {
  const marks = [...Array<string>(failed).fill('f'), ...Array<string>(passed).fill('p')].slice(0, 20);
  const bars = marks.map((mark, index) => {
    const height = mark === 'f' ? HEIGHT : 7;
    return html`<rect class="${mark}" x="${index * 6}" y="${HEIGHT - height}" width="4" height="${height}"/>`;
  });
  const words = `${where === 'here' ? 'Here' : 'On the base'}: ${failed} failed, ${passed} passed`;
  return html`<svg class="strip" viewBox="0 0 ${marks.length * 6} ${HEIGHT}" width="${marks.length * 6}"
    height="${HEIGHT}" role="img" aria-label="${words}">${bars}</svg>`;
}
