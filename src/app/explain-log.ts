import type { Config } from '../config/schema.ts';
import type { Analysis } from '../domain/analysis.ts';
import { sparseBuild } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import { silentLogger } from '../ports/telemetry.ts';
import { createTerminalApp, type TerminalApp } from './terminal-app.ts';

/** Of one process: reading a log is work of the processor, which every other request shares. */
const AT_ONCE = 2;
const RETRY_MS = 3_000;
const SOURCE = 'log';

/** An analysis for each cause of a log, the main one first. Keeps nothing, asks no model, no code host and no web search. */
export type ExplainLog = (log: string, signal: AbortSignal) => Promise<readonly Analysis[]>;

/**
 * Explains logs that somebody pastes, by rules alone. What that needs is opened with the first log. Throws `rate-limited` where two are
 * being read already.
 */
export function openLogExplainer(config: Config): ExplainLog {
  let opened: Promise<TerminalApp> | undefined;
  let running = 0;
  const open = async () => await createTerminalApp(withRulesAlone(config), silentLogger);
  return async (log, signal) => {
    if (running >= AT_ONCE) {
      const message = `${running} logs are already being explained. Try again in ${RETRY_MS / 1000} s.`;
      throw new TriageError('rate-limited', message, { retryable: true, retryAfterMs: RETRY_MS });
    }
    running += 1;
    try {
      opened ??= open();
      const app = await opened.catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      const { analyses } = await app.triage(pastedBuild(), [{ name: SOURCE, kind: 'log', text: log, notes: [] }], signal);
      return analyses;
    } finally {
      running -= 1;
    }
  };
}

/** The same secrets to hide, and nobody to ask or to tell. */
function withRulesAlone({ analyst, tracing, webSearch, ...config }: Config): Config {
  return {
    ...config,
    analyst: { ...analyst, driver: 'rules' },
    codeHost: { driver: 'local-git', clones: {} },
    webSearch: { ...webSearch, driver: 'none' },
    tracing: { otlp: { ...tracing.otlp, endpoint: null, tracesEndpoint: null }, langfuse: { ...tracing.langfuse, publicKey: null } },
  };
}

function pastedBuild() {
  return {
    ...sparseBuild({ repository: 'local/pasted', pipeline: 'pasted', number: '1' }),
    id: 'pasted',
    receivedAt: new Date().toISOString(),
  };
}
