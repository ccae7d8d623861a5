import type { TerminalApp } from '../../../src/app/terminal-app.ts';
import { createSparseBuild } from '../../../src/domain/build.ts';
import type { Advise } from './advice-gates.ts';

const never = new AbortController().signal;

/** Advises as `faultline triage` does, on every cause, by the app at hand. */
export function adviseWith(app: Pick<TerminalApp, 'triage'>): Advise {
  const build = {
    ...createSparseBuild({ repository: 'example/mono', pipeline: 'ci', number: '1' }),
    id: 'advised',
    receivedAt: new Date(0).toISOString(),
  };
  return async (text) => {
    const { analyses } = await app.triage(build, [{ name: 'log', kind: 'log', text, notes: [] }], never);
    return analyses.map(({ answer }) => answer?.fixRecommendation ?? null);
  };
}
