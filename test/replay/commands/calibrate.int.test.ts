import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadPrompt } from '../../../prompts/load.ts';
import { parseCalibration } from '../../../src/domain/calibration.ts';
import { toFailedResult } from '../../../src/replay/run/results.ts';
import { runFaultline } from '../../cli/faultline.ts';
import { copyTestDatabase } from '../../support/pglite.ts';

let folder = '';
let [dataset, results] = ['', ''];

/** Eighty answers of the rules, all stated at 0.9 and right but for every tenth, and what a model answered in their place. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-calibrate-'));
  await copyTestDatabase(join(folder, 'database'));
  [dataset, results] = [join(folder, 'cases.jsonl'), join(folder, 'results.jsonl')];
  const ids = Array.from({ length: 80 }, (_, at) => `case-${at}`);
  const row = (id: string, at: number) => ({
    id,
    project: `p${at % 8}`,
    log: 'error',
    category: at % 10 === 0 ? 'INFRA_ERROR' : 'CODE_ERROR',
  });
  const answered = { ...toFailedResult('', '', 0), error: null, category: 'CODE_ERROR', analyst: 'rules' };
  // What was published went by a calibration: the raw confidence is what the next one is fitted to.
  const result = (id: string) => ({ ...answered, id, answerConfidence: 0.2, rawConfidence: 0.9 });
  await writeFile(dataset, ids.map((id, at) => `${JSON.stringify(row(id, at))}\n`).join(''));
  await writeFile(results, ids.map((id) => `${JSON.stringify(result(id))}\n`).join(''));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const calibrate = (...more: string[]) =>
  runFaultline(['calibrate', '--dataset', dataset, '--results', results, ...more]);

it('calibrate fits, prints and writes a file, and changes nothing else', async () => {
  const out = join(folder, 'rules.calibration.json');
  const done = await calibrate('--risk', '0.2', '--confidence', '0.9', '--out', out);
  expect(done.code).toBe(0);
  expect(done.stdout).toContain('Calibration of rules, 80 cases from 8 projects');
  expect(done.stdout).toMatch(/CODE_ERROR\s+80\s+72\s+platt/);
  expect(done.stdout).toMatch(/before\s+0\.90 → 0\.90 \(80\)/);
  expect(done.stdout).toMatch(/CODE_ERROR\s+80\s+0\.\d{4}\s+80 \(100 %/);
  expect(done.stdout).toMatch(/TEST_FAILURE\s+0\s+always reviewed/);
  const written = parseCalibration(JSON.parse(await readFile(out, 'utf8')), out);
  expect(written).toMatchObject({
    analyst: 'rules',
    risk: { most: 0.2, confidence: 0.9 },
    fittedOn: { cases: 80, sources: ['cases.jsonl'] },
  });
});

it('calibrate is refused before any replay if the source of labels or the analyst is not named', async () => {
  expect(await runFaultline(['calibrate'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('either --dataset FILE… or --reviewed'),
  });
  const model = await calibrate('--analyst', 'llm');
  expect([model.code, model.stderr]).toEqual([
    expect.any(Number),
    expect.stringMatching(/There are no answers by llm .*, only by rules/),
  ]);
  expect((await calibrate('--results', results, results)).stderr).toContain(
    'the case case-0 is in two of the files',
  );
  const unsaid = await runFaultline([
    'calibrate',
    '--dataset',
    join(folder, 'missing.jsonl'),
    '--apply',
    '--data',
    folder,
  ]);
  expect(unsaid.stderr).toContain(
    'none is in force for rules. Nothing was changed. To replace it, use --replaces none',
  );
});

it('calibrate uses only answers that the present prompts wrote and verified', async () => {
  const model = join(folder, 'model.jsonl');
  const [generate_answer, verify] = ['answer', 'verify'].map(
    (name) => loadPrompt(`triage/${name}`, 'CODE_ERROR').hash,
  );
  const lines = (await readFile(results, 'utf8')).trimEnd().split('\n');
  const fitModel = async (other: (at: number) => boolean) => {
    const rows = lines.map((line, at) => ({
      ...JSON.parse(line),
      analyst: 'llm',
      model: 'gpt-4o',
      promptHashes: { generate_answer, verify: other(at) ? 'other' : verify },
    }));
    await writeFile(model, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const args = ['--dataset', dataset, '--results', model, '--analyst', 'llm', '--json'];
    return await runFaultline(['calibrate', ...args], {
      env: { OPENAI_MODEL: 'gpt-4o', OPENAI_API_KEY: 'none' },
    });
  };
  const some = await fitModel((at) => at < 20);
  expect(some.stderr).toContain('Left out 20 answers with other prompts than today’s.');
  const { calibration } = JSON.parse(some.stdout);
  expect(calibration).toMatchObject({ analyst: 'llm gpt-4o', fittedOn: { cases: 60 } });
  expect(calibration.prompts).toEqual(expect.arrayContaining([generate_answer, verify]));
  const none = await fitModel(() => true);
  expect([none.code === 0, none.stderr]).toEqual([
    false,
    expect.stringContaining(
      'There are only answers by llm gpt-4o with other prompts than today’s (80 answers)',
    ),
  ]);
});

it('a calibration is activated, replaced and withdrawn by command, which names the replaced one', async () => {
  const here = ['--data', folder, '--json'];
  const first = await calibrate('--apply', '--replaces', 'none', ...here);
  expect(JSON.parse(first.stdout)).toMatchObject({
    ok: true,
    applied: true,
    calibration: { version: 1, analyst: 'rules' },
  });
  await calibrate('--apply', '--replaces', '1', ...here);

  const back = await runFaultline(['calibrate', 'use', '1', '--replaces', '2', ...here]);
  expect(JSON.parse(back.stdout)).toMatchObject({
    ok: true,
    act: { analyst: 'rules', version: 1, replaced: 2 },
  });
  const typo = await runFaultline(['calibrate', 'off', 'rule', '--replaces', 'none', '--data', folder]);
  expect([typo.code === 0, typo.stderr]).toEqual([
    false,
    expect.stringContaining('for rule. In force for: rules.'),
  ]);
  const off = await runFaultline(['calibrate', 'off', 'rules', '--replaces', '1', ...here]);
  expect(JSON.parse(off.stdout)).toMatchObject({ act: { version: null, replaced: 1 } });

  const listed = JSON.parse((await runFaultline(['calibrate', 'list', ...here])).stdout);
  expect(listed).toMatchObject({ inForce: [], items: [{ version: 2 }, { version: 1 }] });
  const acts = listed.acts.map(({ replaced, version }: { replaced: unknown; version: unknown }) => [
    replaced,
    version,
  ]);
  expect(acts).toEqual([
    [1, null],
    [2, 1],
    [1, 2],
    [null, 1],
  ]);
});
