import type { CategoryMap } from '../../domain/calibration.ts';
import type { Statement } from './platt.ts';

interface Block {
  readonly from: number;
  readonly to: number;
  readonly weight: number;
  readonly right: number;
}

/** No share of cases makes certain of the next one. */
const SUREST = 0.99;
const LEAST = 0.01;

/**
 * The closest map to the shares that were right which never falls, by pool-adjacent-violators (Ayer et al. 1955; for calibration Zadrozny &
 * Elkan 2002): neighbours that fall are joined until none does. Level within a joined block, straight between blocks, within 0.01..0.99.
 * At least one statement.
 */
export function fitIsotonic(statements: readonly Statement[]): CategoryMap['points'] {
  const blocks: Block[] = [];
  for (const block of sameStatements(statements)) {
    let joined = block;
    for (let last = blocks.at(-1); last !== undefined && shareOf(last) >= shareOf(joined); last = blocks.at(-1)) {
      blocks.pop();
      joined = { from: last.from, to: joined.to, weight: last.weight + joined.weight, right: last.right + joined.right };
    }
    blocks.push(joined);
  }
  return blocks.flatMap((block) => {
    const share = Math.min(SUREST, Math.max(LEAST, shareOf(block)));
    const begin: [number, number] = [block.from, share];
    return block.from === block.to ? [begin] : [begin, [block.to, share] satisfies [number, number]];
  });
}

/** One block for each stated value, rising. */
function sameStatements(statements: readonly Statement[]): Block[] {
  const found = new Map<number, Block>();
  for (const { stated, right, weight = 1 } of statements) {
    const known = found.get(stated) ?? { from: stated, to: stated, weight: 0, right: 0 };
    found.set(stated, { ...known, weight: known.weight + weight, right: known.right + (right ? weight : 0) });
  }
  return [...found.values()].sort((left, right) => left.from - right.from);
}

function shareOf({ right, weight }: Block): number {
  return right / weight;
}
