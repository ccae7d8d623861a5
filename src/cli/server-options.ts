import type { Command } from 'commander';
import { dataOption, jsonOption } from './command-parts.ts';

/** Where a service is and who asks. */
export interface Server {
  readonly url: string;
  readonly token: string;
  readonly json: boolean;
}

export interface ServerOptions {
  readonly url?: string;
  readonly token?: string;
  readonly data?: string;
  readonly json?: boolean;
}

/** The options of every command that asks a running service. */
export function asksService(command: Command): Command {
  return command
    .option('--url <address>', 'URL of the service (default: $FAULTLINE_URL or http://127.0.0.1:4600)')
    .option('--token <token>', 'bearer token (default: $FAULTLINE_TOKEN or the one in the data directory)')
    .addOption(dataOption())
    .addOption(jsonOption());
}

/** Options, environment, or the data directory of this machine. Throws `invalid-config` where there is no token. */
export async function serverOf(options: ServerOptions): Promise<Server> {
  const { dataDirectory } = await import('./settings.ts');
  const { findSecrets } = await import('./secrets.ts');
  const { TriageError } = await import('../domain/errors.ts');
  const url = options.url ?? process.env.FAULTLINE_URL ?? 'http://127.0.0.1:4600';
  const token = options.token ?? process.env.FAULTLINE_TOKEN ?? findSecrets(dataDirectory(options.data))?.token;
  if (token === undefined)
    throw new TriageError('invalid-config', 'No token: pass --token, set FAULTLINE_TOKEN, or run on the machine with the data directory');
  return { url, token, json: options.json === true };
}
