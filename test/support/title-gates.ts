import type { Answer } from '../../src/domain/analysis.ts';
import { MAX_TITLE, withoutMachinePaths } from '../../src/log/title.ts';
import { createTitleFrom } from '../../src/service/review/learn.ts';
import type { AdviceCount, AdvisedLog } from './advice/advice-gates.ts';
import { readCapturedFailures } from './reading-gates.ts';

/** Returns an answer for each cause of a log. The gates are also tested with worse analysts. */
export type GiveAnswers = (text: string) => Promise<readonly Pick<Answer, 'title' | 'rootCause'>[]>;

/**
 * Counts the bad titles among the answers on captured failures, and among the library entries that a
 * correction would create: titles that are too long, empty, or contain a path of a machine.
 */
export async function countBadTitles(
  answer: GiveAnswers,
  logs: readonly Pick<AdvisedLog, 'name' | 'text'>[] = readCapturedFailures(),
): Promise<AdviceCount[]> {
  const titles: { readonly name: string; readonly title: string }[] = [];
  for (const { name, text } of logs)
    for (const { title, rootCause } of await answer(text))
      titles.push({ name, title }, { name: `${name}, in the library`, title: createTitleFrom(rootCause) });
  const find = (name: string, isBroken: (title: string) => boolean): AdviceCount => ({
    name,
    cases: titles.length,
    broken: titles.filter(({ title }) => isBroken(title)).map((one) => `${one.name}: “${one.title}”`),
  });
  return [
    find(`title of 1 to ${MAX_TITLE} characters`, ({ length }) => length === 0 || length > MAX_TITLE),
    find('title without paths of machines', (title) => withoutMachinePaths(title) !== title),
  ];
}
