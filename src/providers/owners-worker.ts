import { parentPort } from 'node:worker_threads';
import { getErrorMessage } from '../domain/errors.ts';
import { type CodeOwners, parseCodeOwners } from './code-owners.ts';
import type { OwnersAnswer, OwnersQuestion } from './owners-thread.ts';

/**
 * The thread in which CODEOWNERS files are read and matched: a stranger's patterns take as long as they like.
 */
const parsed = new Map<string, CodeOwners>();
const MAX_PARSED = 20;

// The clock of a question starts once this thread listens.
parentPort?.postMessage('ready');
parentPort?.on('message', ({ key, lines, form, paths }: OwnersQuestion) => {
  try {
    const rules = parsed.get(key) ?? parseCodeOwners(lines, form);
    if (parsed.size >= MAX_PARSED && !parsed.has(key)) parsed.clear();
    parsed.set(key, rules);
    const owned = paths.map((path) => rules.findOwners(path));
    parentPort?.postMessage({ owned, problems: rules.problems } satisfies OwnersAnswer);
  } catch (error) {
    parentPort?.postMessage({ failed: getErrorMessage(error) });
  }
});
