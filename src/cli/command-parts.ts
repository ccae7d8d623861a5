import { type Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { Config } from '../config/schema.ts';
import type { Service } from './server-client.ts';
import type { DataOptions } from './settings.ts';
import { reportError } from './terminal.ts';

/**
 * Creates the `--data` option. This module holds what several commands share and stays small, because every
 * command loads it at startup.
 */
export function createDataOption(): Option {
  return new Option('--data <dir>', 'data directory (default: $FAULTLINE_DATA_DIR or .faultline)');
}

export function createAnalystOption(): Option {
  return new Option('--analyst <who>', 'which analyst to use').choices(['rules', 'llm']);
}

export function createJsonOption(): Option {
  return new Option('--json', 'print one JSON object on standard output, including errors');
}

/** Runs a command's action. Any error becomes one sentence and an exit code, never a stack trace. */
export function runGuarded<Arguments extends unknown[]>(
  action: (...args: Arguments) => Promise<void>,
): (...args: Arguments) => Promise<void> {
  return async (...args) => {
    try {
      await action(...args);
    } catch (error) {
      // commander has already reported the usage error with a hint.
      if (error instanceof CommanderError) throw error;
      await reportError(error, args.some(wantsJson));
    }
  };
}

/** Runs an action like `runGuarded`, but loads its module only when the command is called. */
export function loadAction<Arguments extends unknown[]>(
  load: () => Promise<(...args: Arguments) => Promise<void>>,
): (...args: Arguments) => Promise<void> {
  return runGuarded(async (...args: Arguments) => (await load())(...args));
}

/** Parses a whole number of at least 1. */
export function parsePositive(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new InvalidArgumentError('Use a whole number of at least 1.');
}

/** Parses a TCP port; 0 chooses a free one. */
export function parsePort(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0 && value <= 65_535) return value;
  throw new InvalidArgumentError('Use a port from 0 to 65535.');
}

export function createProfileOption(): Option {
  return new Option('--profile <name>', 'effort per run').choices(['fast', 'balanced', 'thorough']);
}

/**
 * The variables in which people keep the tokens of CI systems for other programs, by ours. They are read for
 * a run that is named on the command line, and sent to the address that is configured for that CI only.
 */
const USUAL_TOKENS: Readonly<Record<string, readonly string[]>> = {
  FAULTLINE_GITHUB_TOKEN: ['GITHUB_TOKEN', 'GH_TOKEN'],
  FAULTLINE_GITEA_TOKEN: ['GITEA_TOKEN'],
  FAULTLINE_GITLAB_TOKEN: ['GITLAB_TOKEN'],
  FAULTLINE_CIRCLECI_TOKEN: ['CIRCLE_TOKEN'],
  FAULTLINE_AZURE_TOKEN: ['AZURE_DEVOPS_EXT_PAT'],
};

/**
 * Reads the configuration for commands that open no store. A given profile overrides the profile of the
 * environment; single settings override both.
 */
export async function loadTerminalConfig({
  profile,
  fetchesRun = false,
}: {
  readonly profile?: string;
  readonly fetchesRun?: boolean;
} = {}): Promise<Config> {
  const { getDataDirectory: dataDirectory, readConfig } = await import('./settings.ts');
  return readConfig(dataDirectory(undefined), {
    ...(fetchesRun && (await findUsualTokens())),
    ...(profile !== undefined && { FAULTLINE_PROFILE: profile }),
  });
}

async function findUsualTokens(): Promise<Record<string, string>> {
  const { isVariableSet } = await import('../config/load.ts');
  const found = Object.entries(USUAL_TOKENS).flatMap(([ours, theirs]): [string, string][] => {
    const name = theirs.find((variable) => isVariableSet(process.env, variable));
    const token = name === undefined ? undefined : process.env[name];
    return token === undefined || isVariableSet(process.env, ours) ? [] : [[ours, token.trim()]];
  });
  return Object.fromEntries(found);
}

function wantsJson(argument: unknown): boolean {
  return typeof argument === 'object' && argument !== null && 'json' in argument && argument.json === true;
}

export interface ServerOptions extends DataOptions {
  readonly url?: string;
  readonly token?: string;
}

/**
 * Adds the options of every command that calls a running service. `where` and `token` replace their
 * descriptions.
 */
export function addServiceOptions(
  command: Command,
  where = 'URL of the service (default: $FAULTLINE_URL or http://127.0.0.1:4600)',
  token = 'bearer token',
): Command {
  return command
    .option('--url <address>', where)
    .option('--token <token>', `${token} (default: $FAULTLINE_TOKEN or the one in the data directory)`)
    .addOption(createDataOption())
    .addOption(createJsonOption());
}

/**
 * Resolves URL and token from options, environment, or the data directory of this machine. Throws
 * `invalid-config` if there is no token.
 */
export async function resolveService(options: ServerOptions): Promise<Service> {
  const { getDataDirectory: dataDirectory, LOCAL_SERVICE, resolveToken } = await import('./settings.ts');
  const url = options.url ?? process.env.FAULTLINE_URL ?? LOCAL_SERVICE;
  return {
    url,
    token: resolveToken(options.token ?? process.env.FAULTLINE_TOKEN, dataDirectory(options.data)),
  };
}
