import type { ReplayedCase } from '../run/replay.ts';
import { type Figure, mean } from './figure.ts';

/** Tokens and dollars a case and in all, where a model was asked, and how long a case took. Failed cases are left out of the times. */
export function scoreCosts(cases: readonly ReplayedCase[]): Figure[] {
  const answered = cases.filter((one) => one.result.action !== null);
  if (answered.length === 0) return [];
  const usages = cases.map(({ result }) => result.usage);
  const tokens = usages.map(({ inputTokens, outputTokens }) => inputTokens + outputTokens);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const times = answered.map(({ result }) => result.milliseconds);
  return [
    ...(sum(tokens) === 0
      ? []
      : [
          { name: 'input tokens', value: sum(usages.map(({ inputTokens }) => inputTokens)), cases: cases.length, unit: 'count' as const },
          {
            name: 'output tokens',
            value: sum(usages.map(({ outputTokens }) => outputTokens)),
            cases: cases.length,
            unit: 'count' as const,
          },
          ...spreadOf('tokens a case', tokens, 'measure'),
          { name: 'dollars', value: sum(usages.map(({ costUsd }) => costUsd)), cases: cases.length, unit: 'dollars' as const },
          ...spreadOf(
            'dollars a case',
            usages.map(({ costUsd }) => costUsd),
            'dollars',
          ),
        ]),
    ...spreadOf('milliseconds a case', times, 'measure'),
  ];
}

function spreadOf(name: string, values: readonly number[], unit: 'measure' | 'dollars'): Figure[] {
  const sorted = [...values].sort((left, right) => left - right);
  const figure = (which: string, value: number): Figure => ({ name: `${name} (${which})`, value, cases: values.length, unit });
  return [figure('mean', mean(values)), figure('p50', percentile(sorted, 0.5)), figure('p95', percentile(sorted, 0.95))];
}

/** The smallest value that at least this share of all do not exceed (nearest rank); 0 for none. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
