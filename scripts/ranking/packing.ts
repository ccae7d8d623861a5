import { countTokens } from '../../src/log/reduce/tokens.ts';
import type { LabelledLog } from './labelled-logs.ts';

/** The share of the labelled lines that the best candidates hold within a budget of tokens. */
export function keptShare({ log, wanted, candidates }: LabelledLog, scores: Float32Array, budget: number): number {
  const order = [...candidates.lines.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
  let room = budget * 0.98;
  const kept = new Set<number>();
  for (const i of order) {
    const line = candidates.lines[i]?.line ?? 0;
    const length = log.length(line);
    if (length > room * 16) continue;
    const cost = countTokens(`${log.raw(line)}\n`);
    if (cost > room || cost > budget * 0.5) continue;
    room -= cost;
    kept.add(line);
    if (room < 4) break;
  }
  let [all, held] = [0, 0];
  for (const [start, end] of wanted) {
    all += end - start + 1;
    for (let line = start; line <= end && end - start < 100_000; line++) if (kept.has(line)) held++;
  }
  return all === 0 ? 0 : held / all;
}
