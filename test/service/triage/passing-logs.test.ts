import { describe, expect, it } from 'vitest';
import { collectGreenTemplates } from '../../../src/log/green/green-diff.ts';
import { extractTemplates } from '../../../src/log/green/templates.ts';
import { createStoredGreens, useGivenGreen } from '../../../src/service/triage/passing-builds.ts';
import type { ChosenPassingLog } from '../../../src/stores/passing-builds.ts';
import { sampleBuild } from '../../support/sample-build.ts';

const TEMPLATES = extractTemplates('make test\ndone');
const SOURCES = [
  { name: 'a.log', kind: 'log' as const },
  { name: 'b.log', kind: 'log' as const },
  { name: 'junit.xml', kind: 'report' as const },
];

function createStoring(...log: string[]) {
  const asked: (readonly string[])[] = [];
  const chosen = (number: string): ChosenPassingLog[] =>
    log.map((name) => ({
      log: name,
      templates: TEMPLATES,
      build: { buildId: `bld_${number}`, number, url: null },
    }));
  const choose = async (_build: string, logs: readonly string[]) => {
    asked.push(logs);
    return [...chosen('12'), ...chosen('11')].filter((chosenPassingLog) =>
      logs.includes(chosenPassingLog.log),
    );
  };
  return { asked, passingBuilds: createStoredGreens({ passingBuilds: { choose }, greenBuilds: 3 }) };
}

describe('stored passed builds', () => {
  it('are requested for one log, and named after the newest', async () => {
    const { asked, passingBuilds } = createStoring('a.log', 'b.log');

    expect(await passingBuilds.of(sampleBuild(), SOURCES, 'b.log')).toEqual({
      name: 'build 12',
      templates: [TEMPLATES, TEMPLATES],
      build: { buildId: 'bld_12', number: '12', url: null },
    });
    expect(asked).toEqual([['b.log']]);
  });

  it('are absent for a report, for a log that none has, and for a log that the build does not have', async () => {
    const { passingBuilds } = createStoring('b.log');

    for (const name of ['junit.xml', 'a.log', 'c.log'])
      expect(await passingBuilds.of(sampleBuild(), SOURCES, name)).toBeNull();
  });

  it('contain the only log of an upload, whatever its name, and no other', async () => {
    const upload = sampleBuild({ provider: 'upload' });
    const { passingBuilds } = createStoring('');

    expect((await passingBuilds.of(upload, SOURCES.slice(1), 'b.log'))?.name).toBe('build 12');
    expect(await passingBuilds.of(upload, SOURCES, 'b.log')).toBeNull();
  });
});

describe('a given log of a passed build', () => {
  it('is compared with every log', async () => {
    const expected = { name: 'the green build', templates: [TEMPLATES], build: null };

    expect(await useGivenGreen(TEMPLATES).of(sampleBuild(), SOURCES, 'a.log')).toEqual(expected);
    expect(await useGivenGreen(TEMPLATES).of(sampleBuild(), SOURCES, 'junit.xml')).toBeNull();
    expect(await useGivenGreen(null).of(sampleBuild(), SOURCES, 'a.log')).toBeNull();
  });

  it('may be given for each log', async () => {
    const green = collectGreenTemplates(new Map([['a.log', { name: 'build 9', templates: [TEMPLATES] }]]));

    expect((await useGivenGreen(green).of(sampleBuild(), SOURCES, 'a.log'))?.name).toBe('build 9');
    expect(await useGivenGreen(green).of(sampleBuild(), SOURCES, 'b.log')).toBeNull();
  });
});
