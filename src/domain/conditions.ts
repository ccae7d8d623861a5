import { type Arm, CONDITIONS, type ConditionKind, MIN_RUNS } from './experiment.ts';

/**
 * The time zones in which a command is run. They are on both sides of UTC, so that at any hour one of them
 * has another date.
 */
export const ZONES = ['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Asia/Kolkata'];

const NETWORK = ['the network on', 'the network off'];
const SEED = new RegExp(
  String.raw`^(?:PYTHONHASHSEED=|--(?:randomly-seed|random-order-seed|seed|sequence\.seed|` +
    'v8-random-seed|random-seed)=|-shuffle=|' +
    String.raw`-Dsurefire\.runOrder=random -Dsurefire\.runOrder\.random\.seed=|` +
    String.raw`--order-by=random --random-order-seed=)\d{1,15}$`,
);
const TIME = /^the clock at \d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} UTC$/;

const NAMES: Readonly<Record<ConditionKind, (name: string) => boolean>> = {
  seed: (name) => SEED.test(name),
  'time zone': (name) => ZONES.some((zone) => name === `TZ=${zone}`),
  time: (name) => TIME.test(name),
  network: (name) => NETWORK.includes(name),
};

/**
 * Returns true if this is the name of a condition under which a command can be run. An empty name means
 * unchanged conditions.
 */
export function isConditionName(name: string): boolean {
  return name === '' || CONDITIONS.some((kind) => NAMES[kind](name));
}

/** The maximum probability that chance alone explains the runs, for a dependence to be named. */
const MAX_CHANCE = 0.01;

/**
 * Finds the two arms that show what a failure depends on; the arm that fails more often comes first. Returns
 * null if the arms do not show a dependence.
 */
export function findDependenceArms(
  arms: readonly Arm[],
  on: ConditionKind | undefined,
): readonly [Arm, Arm] | null {
  const [red, green, ...more] = arms
    .filter(({ under }) => under !== undefined)
    .toSorted((left, right) => rateOfFailure(right) - rateOfFailure(left));
  if (on === undefined || red === undefined || green === undefined || more.length > 0) return null;
  const pair = [red, green] as const;
  const isNamed =
    pair.every(({ under = '' }) => under === '' || NAMES[on](under)) && red.under !== green.under;
  const isClean = pair.every(({ other, passed, failed }) => other === 0 && passed + failed >= MIN_RUNS);
  if (!isNamed || !isClean) return null;
  return (red.passed === 0 && green.failed === 0) || (on === 'network' && isNetworkToBlame(pair))
    ? pair
    : null;
}

function rateOfFailure({ passed, failed }: Arm): number {
  return passed + failed === 0 ? 0 : failed / (passed + failed);
}

function isNetworkToBlame(arms: readonly Arm[]): boolean {
  const [on, off] = NETWORK.map((name) => arms.find(({ under }) => under === name));
  if (on === undefined || off === undefined || (off.passed > 0 && off.failed > 0)) return false;
  return isBeyondChance(on, off);
}

/**
 * Returns true if chance does not explain the difference between runs with the network and runs without it.
 * All runs without the network must have had the same outcome.
 */
export function isBeyondChance(on: Counted, off: Counted): boolean {
  return computeFisherProbability(on, off) < MAX_CHANCE;
}

type Counted = Pick<Arm, 'passed' | 'failed'>;

/**
 * Computes Fisher's exact test for runs without the network that all had the same outcome: the probability,
 * if the network played no part, that all runs with the other outcome are among those with the network.
 */
export function computeFisherProbability(on: Counted, off: Counted): number {
  const [n, m] = [on.passed + on.failed, off.passed + off.failed];
  const others = off.passed === m ? on.failed : on.passed;
  let chance = 1;
  for (let at = 0; at < others; at += 1) chance *= (n - at) / (n + m - at);
  return chance;
}
