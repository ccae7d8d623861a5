import { describe, expect, it } from 'vitest';
import type { SourceText } from '../../../src/domain/build.ts';
import type { FailureGroup } from '../../../src/domain/reading.ts';
import { causesOfLogs, joinKnown, sourcesOfGroup } from '../../../src/service/triage/group.ts';
import { readMasked } from '../../../src/service/triage/read-build.ts';
import { failingTest, sampleFailure, sampleGroup } from '../../stores/samples.ts';
import { capturedFailure } from '../../support/captured-failures.ts';

const read = (sources: readonly SourceText[]) => readMasked(sources, { budgetTokens: 2000, secrets: 0 });
const logOf = (name: string, text: string): SourceText => ({ name, kind: 'log', text, notes: [] });
const units = logOf('units.log', capturedFailure('tax-band-boundary').log);
const types = logOf('types.log', capturedFailure('checkout-type-error').log);
const link = logOf('link.log', capturedFailure('thumbnail-link-error').log);
const passed = logOf('passed.log', 'checking out\nall is well\n');

const causes = async (...logs: SourceText[]) => causesOfLogs('bld_1', logs, read);
const fingerprints = async (groups: Promise<readonly FailureGroup[]>) => (await groups).map((group) => group.fingerprint.value);

describe('the causes in the logs of failed jobs', () => {
  it('are one for each log in which no test failed, beside those of the tests', async () => {
    const alone = await Promise.all([units, types, link].map((log) => fingerprints(causes(log))));
    expect(await fingerprints(causes(units, types, link))).toEqual(alone.flat());
  });
  it('stay the same causes when logs come before or after theirs', async () => {
    const [known] = await fingerprints(causes(types));
    expect(await fingerprints(causes(link, types))).toContain(known);
    expect(await fingerprints(causes(types, link))).toContain(known);
  });
  it('are none for a log that shows no error', async () => {
    expect(await causes(types, passed)).toHaveLength(1);
  });
  it('say that nothing was found where no log shows an error', async () => {
    expect(await causes(passed, { ...passed, name: 'other.log' })).toMatchObject([{ generic: true }]);
  });
  it('are each shown by their own log only, and by any report', async () => {
    const report: SourceText = { name: 'junit.xml', kind: 'report', text: '<testsuite/>', notes: [] };
    const sources = [units, types, report];
    const shown = (await causesOfLogs('bld_1', sources, read)).map((group) => sourcesOfGroup(group, sources));
    expect(shown).toEqual([
      [units, report],
      [types, report],
    ]);
  });
  it('are shown by all sources where a group names none', () => {
    expect(sourcesOfGroup(sampleGroup('bld_1', 'aa'), [units, types])).toEqual([units, types]);
  });
});

describe('what a later reading adds', () => {
  const a = (fingerprint: string) => sampleFailure('bld_1', fingerprint, { test: failingTest('test_a') });
  const b = sampleFailure('bld_1', 'bb', { test: failingTest('test_b') });
  const stored = [{ ...sampleGroup('bld_1', 'aa'), failures: [a('aa')] }];

  it('is nothing where all tests are known, though their fingerprint changed', () => {
    expect(joinKnown([{ ...sampleGroup('bld_1', 'cc'), failures: [a('cc')] }], stored)).toEqual([]);
  });
  it('joins the group with which it shares a cause', () => {
    const later = { ...sampleGroup('bld_1', 'bb'), failures: [b, a('aa')] };
    expect(joinKnown([later], stored)).toEqual([{ fingerprint: stored[0]?.fingerprint, generic: false, failures: [b] }]);
  });
  it('does not join a group of which nothing could be recognised', () => {
    const later = { ...sampleGroup('bld_1', 'bb'), failures: [b, a('aa')] };
    const generic = stored.map((group) => ({ ...group, generic: true }));
    expect(joinKnown([later], generic)).toEqual([{ ...later, failures: [b] }]);
  });
  it('is a group of its own where nothing is known of it', () => {
    const later = { ...sampleGroup('bld_1', 'bb'), failures: [b] };
    expect(joinKnown([later], stored)).toEqual([later]);
  });
});
