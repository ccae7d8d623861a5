import type { Analysis } from '../domain/analysis.ts';
import { confirmation, formOf, percent } from './answer-facts.ts';
import { clip, visibleLine } from './visible-text.ts';

/** GitHub shows at most ten error annotations of one step. */
const MAX_COMMANDS = 10;

/**
 * Workflow commands (`::error file=…,line=…,title=…::message`), one a line, for a step of GitHub Actions to print: one per
 * suspect, or a single one without a place. An answer that is not sure is a `::warning`.
 */
export function renderGithubCommands(analysis: Analysis): string {
  const { answer } = analysis;
  const form = formOf(analysis);
  const command = form === 'unsure' ? 'warning' : 'error';
  const standing = confirmation(analysis) ?? `${form === 'unsure' ? 'not sure, ' : ''}${percent(analysis.verdict.confidence)}`;
  const title = property(`${clip(answer.title, 150)} (${analysis.category}, ${standing})`);
  const message = data(`${clip(answer.rootCause, 1500)} Fix: ${clip(answer.fixRecommendation, 1500)}`);
  const places = answer.suspects.slice(0, MAX_COMMANDS).map(({ path, line }) => {
    return `file=${property(path)},${line === null ? '' : `line=${line},`}`;
  });
  return (places.length === 0 ? [''] : places).map((place) => `::${command} ${place}title=${title}::${message}\n`).join('');
}

function data(text: string): string {
  return visibleLine(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
