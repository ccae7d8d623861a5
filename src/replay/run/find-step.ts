import type { Section } from '../../domain/failure.ts';
import { cleanLine, stripEscapes } from '../../log/lines/clean.ts';
import { contentWords } from '../figures/words.ts';

type FailedStep = Pick<Section, 'name' | 'source' | 'lineStart' | 'lineEnd' | 'consequence'>;

/** Words that any label may add or leave out. */
const NOT_TELLING = new Set(['run', 'step', 'job', 'workflow', 'action', 'log']);
/** Lines of a step's head that are looked at for what it runs. */
const MAX_HEAD = 300;

/**
 * Whether one of the steps that failed, not for another's failure, is the one that a label describes in words of its own: "npm test (jest)". One
 * of the two must hold the telling words of the other: the label those of the step's name, or the step's name and script those of the label, or
 * of a part of the label of two words at least.
 */
export function isStepFound(label: string, steps: readonly FailedStep[], texts: readonly { name: string; text: string }[]): boolean {
  const said = wordsOf(label);
  const parts = label.split(/[():;…]|->| \/ |, /).map(wordsOf);
  const wanted = [said, ...parts.filter(({ size }) => size > 1)].filter(({ size }) => size > 0);
  return steps
    .filter(({ consequence }) => consequence !== true)
    .some((step) => {
      const all = step.name.split(' / ');
      const own = all.length > 1 && all[0]?.startsWith('Run ') !== true ? all.slice(1) : all;
      if (own.map(wordsOf).some((words) => words.size > 0 && isWithin(words, said))) return true;
      const shown = wordsOf(`${step.name}\n${headOf(step, texts)}`);
      return wanted.some((words) => isWithin(words, shown));
    });
}

function wordsOf(text: string): Set<string> {
  return new Set(contentWords(text).filter((word) => !NOT_TELLING.has(word)));
}

function isWithin(words: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  return [...words].every((word) => others.has(word));
}

function headOf({ source, lineStart, lineEnd }: FailedStep, texts: readonly { name: string; text: string }[]): string {
  const lines = texts.find(({ name }) => name === source)?.text.split('\n', lineStart + MAX_HEAD) ?? [];
  const head = lines.slice(lineStart - 1, Math.min(lineEnd, lineStart + MAX_HEAD)).map((line) => cleanLine(stripEscapes(line)));
  const end = head.findIndex((line) => line.startsWith('##[endgroup]'));
  return head.slice(0, end + 1).join('\n');
}
