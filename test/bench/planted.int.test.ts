import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openServicePath, openTerminalPath, type Path } from '../../scripts/parts/bench/planted/answers.ts';
import { type PlantedHistory, plantHistory } from '../../scripts/parts/bench/planted/history.ts';
import { JAVASCRIPT_PROGRAMS } from '../../scripts/parts/bench/planted/javascript-programs.ts';
import type { Plant } from '../../scripts/parts/bench/planted/program.ts';
import { THOROUGH } from '../support/thorough.ts';

const NAMES = THOROUGH ? ['terminal', 'service'] : ['terminal'];
let folder = '';
let histories: ReadonlyMap<Plant, PlantedHistory>;
const paths = new Map<string, Path>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'faultline-planted-'));
  const [program] = JAVASCRIPT_PROGRAMS;
  if (program === undefined) throw new Error('There is no program.');
  const plants = ['removed check', 'renamed key'] as const;
  histories = new Map(plants.map((plant, place) => [plant, plantHistory(folder, program, plant, place + 1)]));
  paths.set('terminal', await openTerminalPath(join(folder, 'terminal')));
  if (THOROUGH) paths.set('service', await openServicePath(join(folder, 'service'), [...histories.values()]));
});
afterAll(async () => {
  for (const path of paths.values()) await path.close();
  rmSync(folder, { recursive: true, force: true });
});

/** `scripts/bench regressions` asks both. */
describe.each(NAMES)('a planted fault among harmless commits, in the %s', (name) => {
  const answer = async (plant: Plant) => {
    const [history, path] = [histories.get(plant), paths.get(name)];
    if (history === undefined || path === undefined) throw new Error(`${plant} was not planted`);
    return { history, analysis: await path.answer(history, true) };
  };

  it('is the commit that removed a check, which the cause names and the fix restores', async () => {
    const { history, analysis } = await answer('removed check');
    const { suspects, rootCause, fixRecommendation } = analysis.answer;

    expect(suspects[0]).toMatchObject({
      path: 'src/hooks.js',
      commit: history.culprit,
      author: 'Bob Hart',
    });
    expect(rootCause).toContain(
      `Commit ${history.culprit.slice(0, 10)} (Bob Hart) removed the check \`if (hook === undefined) {\``,
    );
    expect(fixRecommendation).toContain('Restore the check `if (hook === undefined) {` in src/hooks.js');
    const made = analysis.steps.flatMap(({ node, outcomes = [] }) =>
      node === 'execute_tool' ? outcomes : [],
    );
    expect(made.find(({ call }) => call.tool === 'changed_since_green')?.status).toBe('ok');
  });

  it('is the commit that renamed a key that another file still reads', async () => {
    const { history, analysis } = await answer('renamed key');
    expect(analysis.answer.suspects[0]).toMatchObject({ path: 'src/settings.js', commit: history.culprit });
    expect(analysis.answer.rootCause).toMatch(
      /took `batchSize` out of src\/settings\.js, but src\/hooks\.js:\d+ still uses it/,
    );
  });
});
