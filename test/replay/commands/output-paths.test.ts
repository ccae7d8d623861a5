import { linkSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkOutputs } from '../../../src/replay/commands/run-files.ts';
import { runFaultline } from '../../cli/faultline.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-outputs-'));
const ROWS = '{"id":"a","log":"Error: boom\\n"}\n';
const DATASET = writeAt('rows.jsonl', ROWS);
const LOGS = join(FOLDER, 'logs');
mkdirSync(LOGS);
writeFileSync(join(LOGS, 'a.log'), 'Error: boom\n');

describe('the output of a replay', () => {
  it('never overwrites the data set', async () => {
    const ended = await runFaultline(['replay', '--dataset', DATASET, '--only', 'read', '--out', DATASET]);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('--out would overwrite the input of --dataset');
    expect(readFileSync(DATASET, 'utf8')).toBe(ROWS);
  });

  it.each([
    [
      'over it through a link',
      { dataset: [DATASET], html: createLink('alias.html', DATASET) },
      /--html would overwrite the input of --dataset/,
    ],
    [
      'over it by its second name',
      { dataset: [DATASET], out: createHardLink('twin.jsonl', DATASET) },
      /--out would overwrite the input of --dataset/,
    ],
    [
      'over a case set',
      { dataset: [writeCaseSet()], junit: join(FOLDER, 'set', 'cases.jsonl') },
      /--junit would overwrite the input of --dataset/,
    ],
    ['over the bars', { dataset: [DATASET], gate: DATASET, out: DATASET }, /would overwrite/],
    [
      'over a repeat’s place',
      { dataset: [writeAt('r.2.jsonl', ROWS)], out: join(FOLDER, 'r.jsonl'), repeat: 2 },
      /--out would overwrite/,
    ],
    ['among the logs', { logs: [LOGS], out: join(LOGS, 'results.jsonl') }, /where it would become a case/],
    ['deep among them', { logs: [FOLDER], html: join(LOGS, 'report.html') }, /where it would become a case/],
    [
      'twice in one file',
      { dataset: [DATASET], out: join(FOLDER, 'x'), record: join(FOLDER, 'x') },
      /--record and --out name the same file/,
    ],
    [
      'where a report cannot read it',
      { dataset: [DATASET], out: '/dev/null', html: join(FOLDER, 'x') },
      /--out must be a file/,
    ],
  ])('is refused: %s', async (_name, options, sentence) => {
    await expect(checkOutputs(options)).rejects.toThrow(sentence);
  });

  it('may be next to the data set', async () => {
    const beside = {
      out: join(FOLDER, 'new.jsonl'),
      html: join(FOLDER, 'new.html'),
      junit: '/dev/null',
      record: '/dev/null',
    };
    await expect(checkOutputs({ dataset: [DATASET], ...beside })).resolves.toBeUndefined();
    await expect(checkOutputs({ logs: [LOGS], out: `${LOGS}-results.jsonl` })).resolves.toBeUndefined();
  });
});

function writeAt(name: string, text: string): string {
  writeFileSync(join(FOLDER, name), text);
  return join(FOLDER, name);
}

function createLink(name: string, target: string): string {
  symlinkSync(target, join(FOLDER, name));
  return join(FOLDER, name);
}

function createHardLink(name: string, target: string): string {
  linkSync(target, join(FOLDER, name));
  return join(FOLDER, name);
}

function writeCaseSet(): string {
  mkdirSync(join(FOLDER, 'set'));
  writeAt('set/cases.jsonl', ROWS);
  return join(FOLDER, 'set');
}
