import { setTimeout as sleep } from 'node:timers/promises';
import type { AttackedService } from './service.ts';

/** The measured values in the order of time, by what was measured, such as `serve, MB`. */
export type Series = ReadonlyMap<string, readonly number[]>;

const EVERY_MS = 5_000;
/**
 * The time after the last request until resources are released, such as kept-alive connections and collected
 * memory, in milliseconds.
 */
const REST_MS = 20_000;
/**
 * The number of samples for which nothing may keep growing. Before them, the load's remaining background work
 * is done.
 */
const CALM = 12;
const WORKED_OFF = 6;
/** The maximum growth of an idle process in that time, by unit. */
const MAX_GROWN: Readonly<Record<string, number>> = { MB: 32, files: 4 };
/** The maximum number of open files in addition to those at the start. */
const MAX_LEFT_OPEN = 32;
const BARS = '▁▂▃▄▅▆▇█';
const WIDTH = 60;

interface UsageWatch {
  /** Waits until the service should be idle, measures for another minute, and returns what still grew. */
  end(): Promise<{ series: Series; growing: string[] }>;
}

/** Measures the service now, and then repeatedly. */
export async function watchUsage(service: Pick<AttackedService, 'usage'>): Promise<UsageWatch> {
  const series = new Map<string, number[]>();
  const state = { over: false };
  const sample = async () => {
    for (const [name, value] of Object.entries(await service.usage()))
      series.set(name, [...(series.get(name) ?? []), value]);
  };
  await sample();
  const watching = (async () => {
    for (; !state.over; await sample()) await sleep(EVERY_MS);
  })();
  // The caller that ends the watch gets the error.
  watching.catch(() => undefined);
  return {
    end: async () => {
      await sleep(REST_MS + (WORKED_OFF + CALM) * EVERY_MS);
      state.over = true;
      await watching;
      return { series, growing: [...series].flatMap(([name, values]) => findGrowth(name, values)) };
    },
  };
}

/**
 * Formats a line for each series that reached at least 1: the first, the highest and the last value, and a
 * bar for each interval.
 */
export function drawSeries(series: Series): string {
  const lines = [...series].flatMap(([name, values]) => {
    const step = Math.max(1, values.length / WIDTH);
    const shown = Array.from(
      { length: Math.min(WIDTH, values.length) },
      (_, at) => values[Math.floor(at * step)] ?? 0,
    );
    const highest = findHighest(values);
    if (highest < 1) return [];
    const bars = shown.map((value) => BARS[Math.min(7, Math.floor((8 * value) / highest))]).join('');
    const [first, last] = [values[0] ?? 0, values.at(-1) ?? 0];
    return `  ${name.padEnd(24)} ${[first, highest, last].map((value) => value.toFixed(0).padStart(6)).join('')}  ${bars}`;
  });
  return [`  ${''.padEnd(24)}  start  most   end  every ${EVERY_MS / 1000} s`, ...lines].join('\n');
}

export function findHighest(values: readonly number[]): number {
  return values.reduce((highest, value) => Math.max(highest, value), 0);
}

/**
 * Describes a process that holds more at the end of the idle time than at its beginning, and more than ever
 * before.
 */
function findGrowth(name: string, values: readonly number[]): string[] {
  const unit = name.split(', ')[1] ?? '';
  const most = MAX_GROWN[unit];
  if (most === undefined) return [];
  const calm = values.slice(-CALM);
  const mean = (part: readonly number[]) => part.reduce((sum, value) => sum + value, 0) / part.length;
  const grown = mean(calm.slice(-CALM / 3)) - mean(calm.slice(0, CALM / 3));
  const left = unit === 'files' ? (values.at(-1) ?? 0) - (values[0] ?? 0) : 0;
  return [
    ...(grown > most && (values.at(-1) ?? 0) > findHighest(values.slice(0, -CALM))
      ? [`${name}: ${grown.toFixed(0)} more after the load than in it`]
      : []),
    ...(left > MAX_LEFT_OPEN ? [`${name}: ${left} more than at the start`] : []),
  ];
}
