import { describe, expect, it } from 'vitest';
import { createCarelessAnalyst, isCareless } from '../../../scripts/parts/bench/careless-analyst.ts';
import { createScriptedAnalyst } from '../../support/scripted-analyst.ts';
import { sampleBuild, sampleSubject } from '../../support/subject.ts';

const never = new AbortController().signal;
const quote = { source: 'build.log', line: 121, text: 'expected 10.20, got 10.21' };
const claim = { text: 'The tax is rounded.', evidence: ['E1'], quotes: [quote] };
const ids = Array.from({ length: 300 }, (_, at) => `case/${at}`);

async function listQuotes(id: string): Promise<string[]> {
  const analyst = createCarelessAnalyst(createScriptedAnalyst({ answers: [{ claims: [claim] }] }));
  const subject = sampleSubject({ build: sampleBuild({ id }) });
  const { value: classification } = await analyst.classify({ subject }, never);
  const { value } = await analyst.answer(
    { subject, classification, evidence: [], outcomes: [], round: 1, gaps: [] },
    never,
  );
  return value.claims.flatMap(({ quotes }) => quotes.map(({ text }) => text));
}

describe('the careless analyst', () => {
  it('misquotes about every third answer, always the same ones', () => {
    const careless = ids.filter(isCareless);
    expect(careless.length).toBeGreaterThan(70);
    expect(careless.length).toBeLessThan(130);
    expect(ids.filter(isCareless)).toEqual(careless);
  });

  it('otherwise answers like the real analyst', async () => {
    const [bad = '', good = ''] = [ids.find(isCareless), ids.find((id) => !isCareless(id))];
    expect(await listQuotes(good)).toEqual([quote.text]);
    expect(await listQuotes(bad)).toEqual([`${quote.text} (as far as I remember)`]);
  });
});
