/**
 * Runs the recipes of the documentation in a real shell. Hostile branches, tags, titles and authors are
 * inserted by the substitution of each CI system.
 */
import { randomBytes } from 'node:crypto';
import { makeToken } from '../../../src/domain/access.ts';
import { createHostileValues, KNOWN_HOSTILE } from '../../../test/recipes/hostile-values.ts';
import { attackJenkinsStep } from '../../../test/recipes/jenkins-step.ts';
import { attackRecipe } from '../../../test/recipes/run-recipe.ts';
import { SYSTEMS } from '../../../test/recipes/systems.ts';
import { startUploadReceiver } from '../../../test/recipes/upload-receiver.ts';
import { report } from './shared/tools.ts';

const SEEDS = [1, 2, 3, 4];
const VALUES_OF_A_SEED = 50;

const receiver = await startUploadReceiver();
try {
  const values = [...KNOWN_HOSTILE, ...SEEDS.flatMap((seed) => createHostileValues(seed, VALUES_OF_A_SEED))];
  const fine: boolean[] = [];
  for (const system of SYSTEMS) {
    const findings = await attackRecipe(system, values, receiver, makeToken());
    const summary = `${values.length} builds, ${findings.length} ran something, gave the token away, or changed the branch`;
    fine.push(report(system.name, summary, findings.length, findings.slice(0, 20).join('\n')));
  }
  const findings = await attackJenkinsStep(values, receiver, `whs_${randomBytes(24).toString('base64url')}`);
  const summary = `${values.length} builds, ${findings.length} gave the secret away or changed the branch or the author`;
  fine.push(report('Jenkins', summary, findings.length, findings.slice(0, 20).join('\n')));
  process.exitCode = fine.every(Boolean) ? 0 : 1;
} finally {
  await receiver.close();
}
