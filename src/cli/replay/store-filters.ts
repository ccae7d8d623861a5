import { type Command, InvalidArgumentError } from 'commander';

/** Which stored failures are meant, as commander reads it. */
export interface StoreFilterOptions {
  readonly repository?: string;
  readonly branch?: string;
  readonly fingerprint?: string;
  readonly category?: string;
  readonly since?: string;
  readonly until?: string;
}

/** The options that choose among stored failures: the same wherever such are asked for. */
export function addStoreFilters(command: Command, where = ''): Command {
  return command
    .option('--repository <owner/name>', `${where}only this repository`)
    .option('--branch <name>', `${where}only this branch`)
    .option('--fingerprint <value>', `${where}only with this fingerprint`)
    .option('--category <category>', `${where}only this category, as reviewed or else as answered`)
    .option('--since <date>', `${where}only from this time on (2026-03-01, or with a time)`, moment)
    .option('--until <date>', `${where}only before this time`, moment);
}

/** A date or a time, as ISO 8601 in UTC. */
function moment(text: string): string {
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw new InvalidArgumentError('Use a date such as 2026-03-01 or a time such as 2026-03-01T12:00:00Z.');
}
