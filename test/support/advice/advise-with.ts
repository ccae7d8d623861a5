import type { TerminalApp } from '../../../src/app/terminal-app.ts';
import { createSparseBuild } from '../../../src/domain/build.ts';
import type { Advise } from './advice-gates.ts';

const never = new AbortController().signal;

/** Creates an adviser that advises on every cause as `faultline triage` does, with the given app. */
export function adviseWith(app: Pick<TerminalApp, 'triage'>): Advise {
  const answer = answerWith(app);
  return async (text) => (await answer(text)).map((given) => given?.fixRecommendation ?? null);
}

/** Answers a log as `faultline triage` does, with an answer for each cause. */
export function answerWith(app: Pick<TerminalApp, 'triage'>) {
  const build = {
    ...createSparseBuild({ repository: 'example/mono', pipeline: 'ci', number: '1' }),
    id: 'advised',
    receivedAt: new Date(0).toISOString(),
  };
  return async (text: string) => {
    const { analyses } = await app.triage(build, [{ name: 'log', kind: 'log', text, notes: [] }], never);
    return analyses.map(({ answer }) => answer);
  };
}
