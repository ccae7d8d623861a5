import type { Arm, Experiment } from '../../domain/experiment.ts';
import { isExcused, type Whose } from '../../domain/whose.ts';
import { startUpper } from '../../lib/text.ts';
import { createWhoseLine, type WhosePart } from '../../notifications/whose-line.ts';
import { type Html, html, joinHtml } from '../html.ts';
import { icon } from '../parts/icons.ts';
import type { Tone } from '../parts/marks.ts';
import { renderWhosePart } from '../whose.ts';
import type { AnswerFacts } from './facts.ts';

/** Renders whose failure it is, with the proof and the recommended action. */
export function whoseFact({ whose, analysis }: AnswerFacts): Html {
  if (whose === null)
    return html`<div class="fact"><dt>${icon('me')}Is it me?</dt><dd><b>Not known yet</b><p>Nothing is known
      around this build.</p></dd></div>`;
  const { question, answer, proof, act } = createWhoseLine(whose);
  const tone = getTone(whose);
  return html`<div class="fact${tone !== null && ` ${tone}`}" data-whose="${whose.verdict}"><dt>${icon(
    'me',
  )}${question}</dt><dd><b${tone !== null && html` class="is-${tone}"`}>${answer}</b>
    <p>${proof.length > 0 && html`${joinHtml(startSentence(proof).map(renderWhosePart))}. `}
    ${act.map(renderWhosePart)}${runStrips(analysis.experiment)}</p></dd></div>`;
}

/** Capitalizes the beginning of a proof, unless it begins with the name of a branch or a build. */
function startSentence([first, ...rest]: readonly WhosePart[]): WhosePart[] {
  if (first === undefined) return [];
  return [typeof first === 'string' ? startUpper(first) : first, ...rest];
}

/**
 * Returns red for a failure of the change, and green if the change is not at fault. An unknown verdict has no
 * color.
 */
function getTone(whose: Whose): Tone | null {
  if (isExcused(whose)) return 'green';
  return whose.verdict === 'change' ? 'red' : null;
}

const HEIGHT = 20;

/** Draws the runs of an experiment, on the checkout and on the base. Tall bars failed, short bars passed. */
function runStrips(experiment: Experiment | undefined): Html {
  const plain = (experiment?.arms ?? []).filter(({ under, what }) => under === undefined && what !== 'after');
  return html`${(['here', 'base'] as const).map((where) => {
    const arm = plain.find((candidate) => candidate.where === where);
    return arm !== undefined && html` ${drawRuns(arm)}`;
  })}`;
}

function drawRuns({ where, passed, failed }: Arm): Html {
  const marks = Array<string>(failed).fill('f').concat(Array<string>(passed).fill('p')).slice(0, 20);
  const bars = marks.map((mark, index) => {
    const height = mark === 'f' ? HEIGHT : 7;
    return html`<rect class="${mark}" x="${index * 6}" y="${HEIGHT - height}" width="4" height="${height}"/>`;
  });
  const words = `${where === 'here' ? 'Here' : 'On the base'}: ${failed} failed, ${passed} passed`;
  return html`<svg class="strip" viewBox="0 0 ${marks.length * 6} ${HEIGHT}" width="${marks.length * 6}"
    height="${HEIGHT}" role="img" aria-label="${words}">${bars}</svg>`;
}
