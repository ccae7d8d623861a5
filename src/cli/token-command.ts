import { Command, InvalidArgumentError, Option } from 'commander';
import { dataOption, guarded, jsonOption } from './command-parts.ts';
import type { ServerOptions } from './server-options.ts';
import type { MakeTokenOptions } from './tokens.ts';

const ROLES = ['ingest', 'read', 'review', 'admin'];

/** `faultline token …`. */
export function tokenCommand(): Command {
  const token = new Command('token').description('Bearer tokens: who may send builds, read answers, review them, or administer.');
  const command = (name: string, description: string) =>
    token
      .command(name)
      .description(description)
      .option('--url <address>', 'ask a running service at this address (default: $FAULTLINE_URL; else the database itself)')
      .option('--token <token>', 'bearer token of an admin there (default: $FAULTLINE_TOKEN or the one in the data directory)')
      .addOption(dataOption())
      .addOption(jsonOption());
  command('make', 'Make a token and print it, once: only its hash is kept.')
    .requiredOption('--name <name>', 'who holds it; the name of who decides a review, too')
    .addOption(new Option('--role <role...>', 'what it may do; admin has all').choices(ROLES).makeOptionMandatory())
    .option('--expires <days>', 'until when it is good, such as 90d; for ever where it is not said', days)
    .option('--repository <repository...>', 'all that it may see: owner/name or owner/*; everything where it is not said')
    .action(guarded(async (options: MakeTokenOptions) => (await import('./tokens.ts')).makeAccessToken(options)));
  command('list', 'The newest 200 tokens: who holds them, what they may do, when they were used last.').action(
    guarded(async (options: ServerOptions) => (await import('./tokens.ts')).listTokens(options)),
  );
  command('revoke', 'End a token. A running service takes it for 10 seconds more at most.')
    .argument('<token>', 'its name, or its id')
    .action(guarded(async (id: string, options: ServerOptions) => (await import('./tokens.ts')).revokeToken(id, options)));
  return token;
}

/** `90d`, `12w`, or `90`: days. */
function days(text: string): number {
  const [, number, unit = 'd'] = /^(\d{1,5})([dw])?$/.exec(text) ?? [];
  const value = Number(number) * (unit === 'w' ? 7 : 1);
  if (Number.isSafeInteger(value) && value >= 1 && value <= 3650) return value;
  throw new InvalidArgumentError('It must be a time from 1d to 3650d, such as 90d or 12w.');
}
