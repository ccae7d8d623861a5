import { renderTracePlain, renderTraceTree } from '../publish/render-trace.ts';
import { AnalysisTrace } from '../publish/trace.ts';
import { askServer } from './server-client.ts';
import type { Server } from './server-options.ts';
import { jsonText, print, type Voice, voiceOf } from './terminal.ts';

/** `faultline trace ID`: what an analysis did, from a running service. */
export async function runTrace(id: string, server: Server): Promise<void> {
  const trace = await askServer(server, 'GET', `/api/analyses/${encodeURIComponent(id)}/trace`, AnalysisTrace);
  return print(server.json ? jsonText({ ok: true, trace }) : renderTrace(trace, voiceOf({})));
}

/** A tree on a terminal, `Key<tab>value` lines in a pipe. */
export function renderTrace(trace: AnalysisTrace, voice: Voice): string {
  return voice.color ? renderTraceTree(trace, voice) : renderTracePlain(trace);
}
