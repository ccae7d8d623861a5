import { type Analysis, saidCategory } from '../domain/analysis.ts';
import { confirmation, formOf, percent } from './answer-facts.ts';
import { clip, visibleLine } from './visible-text.ts';

/**
 * A workflow command (`::error file=…,line=…,title=…::message`) for a step of GitHub Actions to print: one per cause, at the first
 * suspect whose line is known, else without a place: an annotation at a guess would only hide. An answer that is not sure is a
 * `::warning`.
 */
export function renderGithubCommands(analysis: Analysis): string {
  const { answer } = analysis;
  const form = formOf(analysis);
  const command = form === 'unsure' ? 'warning' : 'error';
  const standing = confirmation(analysis) ?? `${form === 'unsure' ? 'not sure, ' : ''}${percent(analysis.verdict.confidence)}`;
  const title = property(`${clip(answer.title, 150)} (${saidCategory(analysis)}, ${standing})`);
  const message = data(`${clip(answer.rootCause, 1500)} Fix: ${clip(answer.fixRecommendation, 1500)}`);
  const suspect = answer.suspects.find(({ line }) => line !== null);
  const place = suspect === undefined ? '' : `file=${property(suspect.path)},line=${suspect.line},`;
  return `::${command} ${place}title=${title}::${message}\n`;
}

function data(text: string): string {
  return visibleLine(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
