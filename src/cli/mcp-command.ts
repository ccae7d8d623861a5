import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { serveStdio } from '../mcp/stdio.ts';
import { silentLogger } from '../ports/telemetry.ts';
import { createBackend } from './mcp-backend.ts';
import { dataDirectory } from './settings.ts';
import { interruptSignal, say } from './terminal.ts';

export interface McpCommandOptions {
  readonly url?: string;
  readonly token?: string;
  readonly data?: string;
  readonly allowFeedback?: boolean;
}

const LOCAL_SERVICE = 'http://127.0.0.1:4600';

/** `faultline mcp`: standard output carries the protocol only; everything else is said on standard error. */
export async function runMcp(options: McpCommandOptions): Promise<void> {
  const dataDir = dataDirectory(options.data);
  const url = options.url ?? process.env.FAULTLINE_URL;
  const token = options.token ?? process.env.FAULTLINE_TOKEN;
  const backend = createBackend({ url, serviceUrl: url ?? LOCAL_SERVICE, token, dataDir, feedback: options.allowFeedback === true });
  say(`faultline mcp: ${whereOf(url, dataDir)}; ${options.allowFeedback === true ? 'feedback is allowed' : 'read-only'}`);
  const signal = interruptSignal();
  try {
    await serveStdio(backend.use, { input: process.stdin, output: process.stdout, logger: silentLogger, signal });
  } finally {
    await backend.close();
  }
}

function whereOf(url: string | undefined, dataDir: string): string {
  if (url !== undefined) return `asks ${url}`;
  return existsSync(join(dataDir, 'database'))
    ? `reads ${dataDir}, or asks the service that uses it`
    : `there is no installation in ${dataDir}, so only pasted logs can be explained`;
}
