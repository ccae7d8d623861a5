import { describe, expect, it } from 'vitest';
import type { SourceText } from '../../../src/domain/build.ts';
import { extractTemplates } from '../../../src/log/green/templates.ts';
import { diffAgainstPassing, findGreenBehind } from '../../../src/service/triage/passing-builds.ts';
import { readMasked } from '../../../src/service/triage/read-build.ts';
import type { ChosenPassingLog } from '../../../src/stores/passing-builds.ts';
import { sampleBuild } from '../../support/sample-build.ts';

const RED = [
  'make test',
  'error: cache is cold',
  'error: mirror 2 is slow',
  'error: cannot open ledger.db',
  'make: *** [test] Error 1',
];
const GREEN = ['make test', 'error: cache is cold', 'done'];
const OLDER = ['make test', 'error: mirror 2 is slow', 'done'];

function createLog(name: string, lines: readonly string[] = RED): SourceText {
  return { name, kind: 'log', text: lines.join('\n'), notes: [] };
}

function createChosen(log: string, number: string, lines: readonly string[]): ChosenPassingLog {
  return {
    log,
    templates: extractTemplates(lines.join('\n')),
    build: { buildId: `bld_${number}`, number, url: null },
  };
}

function createChooser(all: readonly ChosenPassingLog[]) {
  const asked: string[][] = [];
  const passingBuilds = {
    choose: async (_build: string, logs: readonly string[]) => {
      asked.push([...logs]);
      return all.filter(({ log }) => logs.includes(log));
    },
  };
  return { asked, deps: { passingBuilds, greenBuilds: 3 } };
}

describe('reading compared with passed builds', () => {
  it('drops what any of them contains too, and names the newest', async () => {
    const { deps } = createChooser([
      createChosen('test.log', '12', GREEN),
      createChosen('test.log', '11', OLDER),
    ]);
    const sources = [createLog('test.log')];

    const beside = await diffAgainstPassing(sampleBuild(), sources, deps);
    if (beside === null) throw new Error('nothing was chosen');
    const { excerpts, messages } = readMasked(sources, { budgetTokens: 30, secrets: 0, green: beside.green });

    expect(messages.map(({ text }) => text).join('\n')).toContain('ledger.db');
    expect(messages.map(({ text }) => text).join('\n')).not.toMatch(/cache|mirror/);
    expect(excerpts.map(({ reason }) => reason).join()).toContain('new since build 12');
    expect(findGreenBehind(excerpts, beside)).toEqual({ buildId: 'bld_12', number: '12', url: null });
  });

  it('reads a log that none of them has unchanged', async () => {
    const { deps } = createChooser([createChosen('test.log', '12', GREEN)]);
    const sources = [createLog('other.log')];

    expect(await diffAgainstPassing(sampleBuild(), sources, deps)).toBeNull();
    const beside = await diffAgainstPassing(sampleBuild(), [...sources, createLog('test.log')], deps);
    const { excerpts } = readMasked(sources, {
      budgetTokens: 400,
      secrets: 0,
      ...(beside === null ? {} : { green: beside.green }),
    });

    expect(excerpts).toEqual(readMasked(sources, { budgetTokens: 400, secrets: 0 }).excerpts);
    expect(findGreenBehind(excerpts, beside)).toBeNull();
  });

  it('finds the only log of an upload, whatever its name', async () => {
    const { asked, deps } = createChooser([createChosen('', '12', GREEN)]);
    const upload = sampleBuild({ provider: 'upload' });

    expect(
      (await diffAgainstPassing(upload, [createLog('build-13.log')], deps))?.builds.get('build-13.log')
        ?.number,
    ).toBe('12');
    expect(await diffAgainstPassing(upload, [createLog('a.log'), createLog('b.log')], deps)).toBeNull();
    expect(asked).toEqual([[''], ['a.log', 'b.log']]);
  });

  it('requests nothing if it is disabled, or if there is no log', async () => {
    const { asked, deps } = createChooser([]);

    expect(
      await diffAgainstPassing(sampleBuild(), [createLog('test.log')], { ...deps, greenBuilds: 0 }),
    ).toBeNull();
    expect(
      await diffAgainstPassing(sampleBuild(), [{ ...createLog('junit.xml'), kind: 'report' }], deps),
    ).toBeNull();
    expect(asked).toEqual([]);
  });
});
