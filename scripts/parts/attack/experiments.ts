import { append } from '../../../src/lib/collections.ts';
/**
 * Experiments against the checkout that they are made in: from hooks, `rebase --exec`, linked worktrees and submodules; in checkouts whose
 * configuration starts programs; in checkouts whose files git writes in its own way, which must not be a false excuse; and with commands that
 * leave something behind. Needs git-lfs, and root or a user of its own to be stopped by read-only folders.
 */
import { ENDING_CASES } from '../../../test/support/experiments/endings.ts';
import { HONEST_CASES } from '../../../test/support/experiments/honest.ts';
import { HOSTILE_CASES } from '../../../test/support/experiments/hostile.ts';
import { PLACE_CASES } from '../../../test/support/experiments/places.ts';
import { report } from './shared/tools.ts';

interface Case {
  readonly name: string;
  run(): Promise<string[]>;
}

const planted = HOSTILE_CASES.reduce((sum, hostileCase) => sum + hostileCase.planted, 0);
const fine = [
  await attack('places', 'experiments where git sets its variables', PLACE_CASES),
  await attack(
    'hostile checkouts',
    `checkouts with ${planted} planted programs, three experiments in each`,
    HOSTILE_CASES,
  ),
  await attack('files', 'checkouts with files of their own kind, three experiments in each', HONEST_CASES),
  await attack('endings', 'signals and things left behind', ENDING_CASES),
];
process.exitCode = fine.every(Boolean) ? 0 : 1;

async function attack(name: string, what: string, cases: readonly Case[]): Promise<boolean> {
  const findings: string[] = [];
  for (const experimentCase of cases) {
    const found = await experimentCase.run().catch((error: unknown) => [`it could not be tried: ${error}`]);
    append(
      findings,
      found.map((finding) => `${experimentCase.name}: ${finding}`),
    );
  }
  return report(
    name,
    `${cases.length} ${what}: ${findings.length} findings`,
    findings.length,
    findings.join('\n'),
  );
}
