import { styleText } from 'node:util';
import { type ArrangedAnswer, introduceAnswers } from '../../notifications/build-answers.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import { renderGithubCommands, renderPlain, renderTerminal } from '../../service/answers/render.ts';
import type { OutputStyle } from '../terminal.ts';

/**
 * The maximum number of annotations. GitHub shows ten errors and ten warnings of a step, so the causes to fix
 * first come first.
 */
const MAX_ANNOTATIONS = 10;

/** Renders the answers of one build as workflow commands of GitHub Actions, at most ten. */
export function renderAnnotations(answers: readonly ArrangedAnswer[]): string {
  const annotated = answers.slice(0, MAX_ANNOTATIONS);
  return annotated.map(({ analysis, explains }) => renderGithubCommands(analysis, explains)).join('');
}

/** Renders the answers of one build: blocks on a terminal, `Key<tab>value` lines in a pipe. */
export function renderAnswers(answers: readonly ArrangedAnswer[], style: OutputStyle): string {
  if (style.color) return renderBlocks(answers, style);
  const introduction = introduceAnswers(answers);
  const head = introduction === null ? '' : `Causes\t${introduction}\n\n`;
  return `${head}${answers.map(({ analysis, explains }) => renderPlain(analysis, { explains })).join('\n')}`;
}

/** Renders the causes for a terminal: one block for each, below a line with its title. */
export function renderBlocks(
  answers: readonly ArrangedAnswer[],
  style: Pick<OutputStyle, 'color' | 'width'>,
): string {
  const introduction = introduceAnswers(answers);
  const blocks = answers.map(({ analysis, explains }, index) => {
    const title = answers.length === 1 ? 'result' : `cause ${index + 1} of ${answers.length}`;
    return `${renderRule(title, style.width)}${renderTerminal(analysis, { ...style, explains })}`;
  });
  return `${introduction === null ? '' : `${introduction}\n\n`}${blocks.join('\n')}`;
}

/** Renders the heading of one file among several. */
export function renderFileHead(file: string, { color, width }: Pick<OutputStyle, 'color' | 'width'>): string {
  return color ? `${renderRule(toVisibleLine(file), width, '═')}` : `File\t${toVisibleLine(file)}\n`;
}

function renderRule(title: string, width: number, stroke = '─'): string {
  return `${stroke}${stroke} ${title} ${stroke.repeat(Math.max(0, width - title.length - 4))}\n`;
}

/** Renders the next steps that a person may want. Each is a command that works unchanged. */
export function renderHints(path: string, repo: string | undefined): string {
  const input = /^[\w./@:+-]+$/.test(path) ? path : `'${toVisibleLine(path).replaceAll("'", "'\\''")}'`;
  const all = [
    `Ask more:  faultline ask ${input} "why now?"`,
    `Show excerpts:  faultline read ${input}`,
    repo === undefined
      ? `Find suspects:  faultline triage ${input} --repo .`
      : `All evidence:  faultline triage ${input} --json`,
  ];
  return `\n${styleText('dim', all.join('     '), { validateStream: false })}\n`;
}
