import type { Category } from '../../../../src/domain/category.ts';
import type { Adapter } from './adapter.ts';

/** The keywords of typical homemade scripts. The first match decides. */
const RULES: readonly (readonly [Category, RegExp])[] = [
  [
    'INFRA_ERROR',
    /timed? ?out|connection (?:reset|refused)|no space left|out of memory|50[234] |could not resolve host/i,
  ],
  [
    'DEPENDENCY_ERROR',
    /could not resolve dependenc|no matching (?:version|distribution)|ERESOLVE|cannot find module|ModuleNotFoundError/i,
  ],
  [
    'CONFIG_ERROR',
    /permission denied|unauthori[sz]ed|forbidden|not found|no such file|invalid (?:option|argument|workflow)/i,
  ],
  ['TEST_FAILURE', /assert|expected|tests? failed|--- FAIL|\bFAILED\b/i],
  ['CODE_ERROR', /error:|exception|panic|traceback|undefined/i],
];
const ERROR = /error|fail|fatal|exception|panic/i;

/** Counts keywords in the lines that look like errors, and returns these lines. */
export const adapter: Adapter = {
  name: 'keyword rules',
  answer({ texts }) {
    const lines = texts.flatMap(({ text }) => text.split('\n')).filter((line) => ERROR.test(line));
    const counts = RULES.map(([category, words]) => ({
      category,
      met: lines.filter((line) => words.test(line)).length,
    }));
    const best = counts.reduce((most, count) => (count.met > most.met ? count : most));
    const all = counts.reduce((sum, { met }) => sum + met, 0);
    const confidence = all === 0 ? 0 : best.met / all;
    const category = all === 0 ? null : best.category;
    return {
      text: lines.slice(-40).join('\n').slice(-4_000),
      category,
      confidence,
      transient: category === 'INFRA_ERROR' ? 1 : 0,
    };
  },
};
