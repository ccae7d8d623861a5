import { getDataDirectory, readConfig } from '../../../../src/cli/settings.ts';
import { createSparseBuild } from '../../../../src/domain/build.ts';
import { Category } from '../../../../src/domain/category.ts';
import { openAnswerer, replayConfig } from '../../../../src/replay/commands/answering.ts';
import { toResult } from '../../../../src/replay/run/results.ts';
import type { Adapter } from './adapter.ts';

const options = { analyst: 'rules', budget: 2_000, concurrency: 1, green: false } as const;
const answer = await openAnswerer(options, replayConfig(options, readConfig(getDataDirectory(undefined))));
if (answer === null) throw new Error('no analyst answers');
const ask = answer;
const never = new AbortController().signal;

/** Faultline without a model, with the log alone: no clone, no passing log, no history. */
export const adapter: Adapter = {
  name: 'Faultline by rules',
  async answer({ id, texts }) {
    const build = {
      ...createSparseBuild({ repository: 'open/benchmark', pipeline: 'ci', number: id }),
      id,
      receivedAt: new Date(0).toISOString(),
    };
    const whole = { sources: texts, greenText: undefined };
    const said = toResult(id, await ask(build, whole, never, () => undefined, true), 0);
    const quoted = said.claims.flatMap(({ text, quotes }) => [text, ...quotes.map((quote) => quote.text)]);
    const tests = said.failingTests.flatMap(({ name, file }) => [name, file ?? '']);
    const others = said.analyses.slice(1).flatMap(({ title, rootCause }) => [title, rootCause]);
    const paths = said.suspects.map(({ path }) => path);
    const { rootCause, fixRecommendation, category, kind, transient } = said;
    const text = [rootCause, quoted, fixRecommendation, tests, paths, others].flat().join('\n');
    const confidence = said.answerConfidence ?? 0;
    return {
      text,
      confidence,
      category: toCategory(category),
      kind,
      transient,
      published: said.action === 'auto_notify',
    };
  },
};

function toCategory(name: string | null) {
  return Category.nullable().parse(name);
}
