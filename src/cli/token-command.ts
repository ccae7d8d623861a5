import { Command, InvalidArgumentError, Option } from 'commander';
import { dataOption, guarded, jsonOption } from './command-parts.ts';
import type { ServerOptions } from './server-options.ts';
import type { MakeTokenOptions } from './tokens.ts';

const ROLES = ['ingest', 'read', 'review', 'admin'];

/** `faultline token …`. */
export function tokenCommand(): Command {
  const token = new Command('token').description('Manage bearer tokens for sending builds, reading, reviewing and administration.');
  const command = (name: string, description: string) =>
    token
      .command(name)
      .description(description)
      .option('--url <address>', 'use a running service at this URL (default: $FAULTLINE_URL, otherwise the database)')
      .option('--token <token>', 'admin bearer token (default: $FAULTLINE_TOKEN or the one in the data directory)')
      .addOption(dataOption())
      .addOption(jsonOption());
  command('make', 'Create a token and print it once; only its hash is stored.')
    .requiredOption('--name <name>', 'name of the holder, also shown on review decisions')
    .addOption(new Option('--role <role...>', 'what it may do; admin includes all roles').choices(ROLES).makeOptionMandatory())
    .option('--expires <days>', 'lifetime, such as 90d (default: no expiry)', days)
    .option('--repository <repository...>', 'repositories it may access: owner/name or owner/* (default: all)')
    .action(guarded(async (options: MakeTokenOptions) => (await import('./tokens.ts')).makeAccessToken(options)));
  command('list', 'List the newest 200 tokens with their holders, roles and last use.').action(
    guarded(async (options: ServerOptions) => (await import('./tokens.ts')).listTokens(options)),
  );
  command('revoke', 'Revoke a token. A running service accepts it for up to 10 more seconds.')
    .argument('<token>', 'its name or ID')
    .action(guarded(async (id: string, options: ServerOptions) => (await import('./tokens.ts')).revokeToken(id, options)));
  return token;
}

/** `90d`, `12w`, or `90`: days. */
function days(text: string): number {
  const [, number, unit = 'd'] = /^(\d{1,5})([dw])?$/.exec(text) ?? [];
  const value = Number(number) * (unit === 'w' ? 7 : 1);
  if (Number.isSafeInteger(value) && value >= 1 && value <= 3650) return value;
  throw new InvalidArgumentError('Use a lifetime from 1d to 3650d, such as 90d or 12w.');
}
