import { parentPort } from 'node:worker_threads';
import { getErrorMessage } from '../domain/errors.ts';
import { type CodeOwners, parseCodeOwners } from './code-owners.ts';
import type { OwnersAnswer, OwnersQuestion } from './owners-thread.ts';

/**
 * The parsed CODEOWNERS files, by key. They are read and matched in this thread, because untrusted patterns
 * may take long.
 */
const parsed = new Map<string, CodeOwners>();
const MAX_PARSED = 20;

// The time limit of a question begins when this thread is ready.
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
