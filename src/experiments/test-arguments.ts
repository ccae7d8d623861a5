import type { FailingTest } from '../domain/failure.ts';

export const MAX_NAME = 500;

export type NamedTest = Pick<FailingTest, 'name'> & Partial<FailingTest>;

/** Inserts arguments after the program and its subcommand: `go test`, `node --test`. */
export function insert(argv: readonly string[], args: readonly string[]): string[] {
  return [...argv.slice(0, 2), ...args, ...argv.slice(2)];
}

/**
 * Returns `--` if the command does not have it yet. Arguments after it belong to the program that the command
 * starts.
 */
export function addSeparator(argv: readonly string[]): string[] {
  return argv.includes('--') ? [] : ['--'];
}

export function findNamedTests(
  output: string,
  pattern: RegExp,
  testOf: (match: RegExpMatchArray) => NamedTest,
): NamedTest[] {
  return [...output.matchAll(pattern)].map(testOf);
}
