import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { ZONES } from '../domain/conditions.ts';
import { listPrograms } from './narrow.ts';
import { insert } from './test-arguments.ts';

const PROBE_MS = 10_000;
const run = promisify(execFile);

/** A command under a condition: its arguments and its environment. */
export interface Condition {
  /** The display name, such as `--seed=3`. It passes `isConditionName`. */
  readonly name: string;
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

interface Seeding {
  readonly programs: readonly string[];
  /** The pattern that the output of a run must match if the tool accepts the seed. */
  readonly when?: RegExp;
  readonly arguments?: (seed: number) => readonly string[];
  readonly variable?: string;
  /** True if the arguments are inserted after the subcommand, and not at the end. */
  readonly before?: boolean;
}

/** The ways to pass a seed to each tool. The first matching row is used. */
const SEEDS: readonly Seeding[] = [
  {
    programs: ['pytest', 'py.test'],
    when: /^Using --randomly-seed=/m,
    arguments: (seed) => [`--randomly-seed=${seed}`],
  },
  {
    programs: ['pytest', 'py.test'],
    when: /^Using --random-order-seed=/m,
    arguments: (seed) => [`--random-order-seed=${seed}`],
  },
  { programs: ['pytest', 'py.test', 'python', 'python3', 'unittest'], variable: 'PYTHONHASHSEED' },
  { programs: ['jest'], arguments: (seed) => [`--seed=${seed}`] },
  { programs: ['vitest'], arguments: (seed) => [`--sequence.seed=${seed}`] },
  // Mocha passes options on to V8. This one is the seed of Math.random.
  { programs: ['mocha'], arguments: (seed) => [`--v8-random-seed=${seed}`] },
  { programs: ['go'], arguments: (seed) => [`-shuffle=${seed}`], before: true },
  {
    programs: ['mvn', 'mvnw'],
    // The first random numbers of Java are similar for small seeds.
    arguments: (seed) => [
      '-Dsurefire.runOrder=random',
      `-Dsurefire.runOrder.random.seed=${seed * 2_654_435_761}`,
    ],
  },
  { programs: ['rspec'], arguments: (seed) => [`--seed=${seed}`] },
  { programs: ['phpunit'], arguments: (seed) => ['--order-by=random', `--random-order-seed=${seed}`] },
];

/**
 * Returns the command with a seed. Returns null if its tool accepts none. `output` is the output of a run of
 * the command.
 */
export function seedCommand(argv: readonly string[], output: string, seed: number): Condition | null {
  const words = listPrograms(argv);
  // V8 accepts the seed of Math.random, and passes it on to the processes of its test runner.
  if (basename(argv[0] ?? '') === 'node' && argv.includes('--test'))
    return {
      name: `--random-seed=${seed}`,
      argv: [argv[0] ?? '', `--random-seed=${seed}`, ...argv.slice(1)],
      env: {},
    };
  const row = SEEDS.find(
    ({ programs, when }) =>
      programs.some((name) => words.includes(name)) && (when === undefined || when.test(output)),
  );
  if (row === undefined) return null;
  if (row.variable !== undefined)
    return { name: `${row.variable}=${seed}`, argv, env: { [row.variable]: `${seed}` } };
  const added = row.arguments?.(seed) ?? [];
  return {
    name: added.join(' '),
    argv: row.before === true ? insert(argv, added) : [...argv, ...added],
    env: {},
  };
}

export function createZoneConditions(argv: readonly string[]): Condition[] {
  return ZONES.map((zone) => ({ name: `TZ=${zone}`, argv, env: { TZ: zone } }));
}

/** The numbers of days before and after now that are tried, in this order. Each is at another time of day. */
const DAYS = [-400, 30, -190, 0.25, -30, 0.5, 400, -0.75];

/**
 * Returns conditions with the clock set to other times by faketime. Returns an empty list if the machine does
 * not have faketime.
 */
export async function shiftClock(argv: readonly string[], now: number): Promise<Condition[]> {
  if (!(await canRun(['faketime', '-f', '@2026-01-01 00:00:00', 'true']))) return [];
  return DAYS.map((days, at) => {
    const time = new Date(now + days * 86_400_000 + at * 11_117_000)
      .toISOString()
      .replace('T', ' ')
      .slice(0, 19);
    // Timers use the real clock.
    const env = { FAKETIME_DONT_FAKE_MONOTONIC: '1', TZ: 'UTC' };
    return { name: `the clock at ${time} UTC`, argv: ['faketime', '-f', `@${time}`, ...argv], env };
  });
}

const LOOPBACK = 'ip link set lo up && exec "$@"';

/**
 * Returns the words before a command that turn off its network but keep the loopback interface. Returns null
 * if the machine offers no way to do this.
 */
export async function findNetworkOff(): Promise<readonly string[] | null> {
  const [user, group] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const again = user === 0 ? [] : ['unshare', '--user', `--map-user=${user}`, `--map-group=${group}`, '--'];
  const ways = [
    ['bwrap', '--unshare-net', '--dev-bind', '/', '/', '--die-with-parent', '--'],
    ['unshare', '--user', '--map-root-user', '--net', '--', 'sh', '-c', LOOPBACK, 'sh', ...again],
  ];
  for (const way of ways) if (await canRun([...way, 'true'])) return way;
  return null;
}

async function canRun([program = '', ...args]: readonly string[]): Promise<boolean> {
  return await run(program, args, { timeout: PROBE_MS }).then(
    () => true,
    () => false,
  );
}
