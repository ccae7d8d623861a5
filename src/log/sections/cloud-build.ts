import type { CiSystem } from './system.ts';
import { failedSection } from './system.ts';

const ENDED = /^ERROR: build step (\d{1,3}) "[^"]{1,300}" failed: /;

/** Google Cloud Build: each step says that it starts and that it is finished; the build says at its end which step failed. */
export const cloudBuild: CiSystem = {
  name: 'cloud-build',
  literals: ['starting step #', 'finished step #', 'error: build step '],
  failures: (log, marks) => {
    const ended = marks.find(({ text }) => ENDED.test(text));
    const number = ENDED.exec(ended?.text ?? '')?.[1];
    if (ended === undefined || number === undefined) return [];
    const of = (word: string) => marks.find(({ text }) => new RegExp(`^${word} Step #${number}(?:\\D|$)`).test(text));
    const started = of('Starting');
    const name = /- "([^"]{1,200})"/.exec(started?.text ?? '')?.[1] ?? `Step #${number}`;
    return [failedSection(log, [name], started?.line ?? 1, of('Finished')?.line ?? ended.line)];
  },
};
