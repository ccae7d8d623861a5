import { Command, InvalidArgumentError, Option } from 'commander';
import { FIX_RULES, type FixRule } from '../../experiments/fix-rules.ts';
import { addServiceOptions, loadAction, parsePositive } from '../command-parts.ts';

const CONFIRM_EXAMPLES = `
Runs only this command, without a shell. Exit code 5: not reproduced; 10: inconclusive.

Examples:
  faultline confirm -- npx vitest run
  faultline confirm --base origin/main --runs 10 -- pytest -q
  faultline confirm --log build.log --install "npm ci" -- npm test
  faultline confirm --as-of 2026-11-01 --install "uv sync" -- uv run --no-sync pytest -q`;

export function confirmCommand(): Command {
  const command = new Command('confirm')
    .description(
      'Run a failing command again, here and on the base, to find out whether the change broke it or ' +
        'it is flaky.',
    )
    .argument('<command...>', 'the failing command and its arguments, after --')
    .option('--log <file>', 'log of the failed build; its failing tests are run alone from the start')
    .option(
      '--base <commit>',
      'commit, branch or tag to compare with (default: where this branch started, or the previous commit)',
      true,
    )
    .option('--no-base', 'do not compare with a base')
    .option('--runs <count>', 'maximum number of runs here, and of runs on the base', parsePositive, 5)
    .option('--minutes <count>', 'time limit for all runs together', parsePositive, 15)
    .option(
      '--install <command>',
      'installs the dependencies on the base if they differ (split at spaces, without quotes)',
    )
    .option(
      '--no-conditions',
      'do not look for the seed, time, time zone or network that a failure depends on',
    )
    .option(
      '--no-network',
      'run the command without the network (bubblewrap or user namespaces); --install may use it',
    )
    .option(
      '--bisect [good]',
      'then search for the commit that broke it, after the base or this commit, in the remaining time',
    )
    .option('--try-fix [file]', 'then try this diff, or the rules of try-fix, in the remaining time')
    .option('--suggest', 'with --try-fix and --report: show the change that fixes it in the pull request')
    .option(
      '--as-of <time>',
      'run with the dependencies of this date or build, and with current ones; needs --install (uv, pip, npm)',
    )
    .option(
      '--report <build>',
      'ID of the build on the service (or provider:number); the result is added to its answer',
    )
    .passThroughOptions()
    .addHelpText('after', CONFIRM_EXAMPLES);
  return addServiceOptions(command).action(
    loadAction(async () => (await import('./dated-commands.ts')).confirmBy),
  );
}

const BISECT_EXAMPLES = `
Examples:
  faultline bisect --good v1.4.0 -- npx vitest run
  faultline bisect --good v1.4.0 --only 2/4 --json -- npx vitest run > part2.json
  faultline bisect --good v1.4.0 --results part*.json -- npx vitest run
  faultline bisect --good 3f2c1ab --build "cargo build" --log build.log -- cargo test
  faultline bisect --by date --good 2026-11-01 --install "uv sync" -- uv run --no-sync pytest -q
A commit is skipped where its build fails or the command ends with exit code 125.`;

export function bisectCommand(): Command {
  const command = new Command('bisect')
    .description(
      'Find the commit that broke a command, running it as often at each commit as its failure rate ' +
        'requires.',
    )
    .argument('<command...>', 'the failing command and its arguments, after --')
    .option(
      '--good <commit>',
      'commit, branch or tag at which it passed (default: where this branch started, or the previous commit)',
    )
    .option('--bad <commit>', 'commit, branch or tag at which it fails', 'HEAD')
    .addOption(
      new Option(
        '--by <what>',
        'date: find the day on which a dependency broke this commit; --good and --bad are dates or builds',
      )
        .choices(['commit', 'date'])
        .default('commit'),
    )
    .option(
      '--build <command>',
      'run first at each commit; skips commits at which it fails (split at spaces, without quotes)',
    )
    .option(
      '--install <command>',
      "installs the dependencies if they differ from the checkout's (split at spaces, without quotes)",
    )
    .option('--log <file>', 'log of the failed build; only its failing tests are run')
    .option('--runs <count>', 'runs at the bad commit, to measure its failure rate', parsePositive, 3)
    .option('--minutes <count>', 'time limit for the whole search', parsePositive, 30)
    .option(
      '--only <part/of>',
      'one machine of several: try its share of the commits, --runs each, and print the counts with --json',
      parsePart,
    )
    .option(
      '--results <files...>',
      'output files of --only; the command runs again only where they do not suffice',
    )
    .option('--no-network', 'run the command without the network; --build and --install may use it')
    .passThroughOptions()
    .addHelpText('after', BISECT_EXAMPLES);
  return addServiceOptions(command).action(
    loadAction(async () => (await import('./dated-commands.ts')).bisectBy),
  );
}

function parsePart(text: string): { readonly part: number; readonly of: number } {
  const [part = 0, of = 0] = (/^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? []).slice(1).map(Number);
  if (part >= 1 && part <= of) return { part, of };
  throw new InvalidArgumentError('Use the number of this machine and of all, such as 2/4.');
}

const FIX_EXAMPLES = `
Without --patch, --analysis and --rule, all rules are tried whose tools the project uses.
Exit code 5: the command does not fail; 10: no change fixes it.

Examples:
  faultline try-fix --patch fix.diff -- npx vitest run
  git diff other-branch | faultline try-fix --patch - --branch fix/sum -- pytest -q
  faultline try-fix --rule format --rule lock --check "npm run ci" -- npm test`;

export function tryFixCommand(): Command {
  const collect = (value: string, values: string[] = []) => [...values, value];
  const command = new Command('try-fix')
    .description(
      'Try proposed changes in a worktree: does the failing command pass with one, and what else ' +
        'breaks? Nothing is pushed.',
    )
    .argument('<command...>', 'the failing command and its arguments, after --')
    .option(
      '--patch <file>',
      'diff to try, or a text that contains one; - for standard input (repeatable)',
      collect,
    )
    .option('--analysis <id>', 'try the diff in the answer of the service (repeatable)', collect)
    .addOption(
      new Option('--rule <name>', 'change that the tools of the project make (repeatable)')
        .choices([...FIX_RULES])
        .argParser(collectRule),
    )
    .option(
      '--check <command>',
      'broader command that shows what else breaks, split at spaces (default: the failing command)',
    )
    .option('--log <file>', 'log of the failed build; its failing tests are run alone from the start')
    .option('--branch <name>', 'make a local branch with the change that fixes it')
    .option('--allow-tests', 'also try changes of tests, snapshots and their settings')
    .option('--allow-workflows', 'also try changes of CI workflows and of the settings of the repository')
    .option(
      '--install <command>',
      'installs the dependencies if a change alters the lock file (split at spaces, without quotes)',
    )
    .option('--runs <count>', 'runs of the failing tests without and with each change', parsePositive, 3)
    .option('--minutes <count>', 'time limit for all attempts together', parsePositive, 15)
    .option(
      '--no-network',
      'run the command and the check without the network; --install and the rules may use it',
    )
    .passThroughOptions()
    .addHelpText('after', FIX_EXAMPLES);
  return addServiceOptions(command).action(
    loadAction(async () => (await import('./try-fix-command.ts')).runTryFix),
  );
}

function collectRule(text: string, rules: readonly FixRule[] = []): FixRule[] {
  const rule = FIX_RULES.find((name) => name === text);
  if (rule === undefined) throw new InvalidArgumentError(`Use one of ${FIX_RULES.join(', ')}.`);
  return [...rules, rule];
}
