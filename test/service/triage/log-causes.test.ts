import { describe, expect, it } from 'vitest';
import type { SourceText } from '../../../src/domain/build.ts';
import type { FailureGroup } from '../../../src/domain/reading.ts';
import { readCauses } from '../../../src/log/causes/read-causes.ts';
import { findGroupsToSave, groupFailures } from '../../../src/service/triage/group-failures.ts';
import { createFailingTest, sampleFailure, sampleGroup } from '../../stores/samples.ts';
import { readCapturedFailure } from '../../support/captured-failures.ts';

const read = (sources: readonly SourceText[]) => readCauses(sources, { budgetTokens: 2000 });
const createLog = (name: string, text: string): SourceText => ({ name, kind: 'log', text, notes: [] });
const units = createLog('units.log', readCapturedFailure('tax-band-boundary').log);
const types = createLog('types.log', readCapturedFailure('checkout-type-error').log);
const link = createLog('link.log', readCapturedFailure('thumbnail-link-error').log);
const passed = createLog('passed.log', 'checking out\nall is well\n');

const causes = (...logs: SourceText[]) => groupFailures(read(logs), 'bld_1');
const fingerprints = (groups: readonly FailureGroup[]) => groups.map((group) => group.fingerprint.value);

describe('the causes in the logs of failed jobs', () => {
  it('are one for each log without a failed test, in addition to those of the tests', () => {
    const alone = [units, types, link].map((log) => fingerprints(causes(log)));
    expect(fingerprints(causes(units, types, link))).toEqual(alone.flat());
  });
  it('remain the same causes if other logs arrive earlier or later', () => {
    const [known] = fingerprints(causes(types));
    expect(fingerprints(causes(link, types))).toContain(known);
    expect(fingerprints(causes(types, link))).toContain(known);
  });
  it('are none for a log without an error', () => {
    expect(causes(types, passed)).toHaveLength(1);
  });
  it('state that nothing was found if no log shows an error', () => {
    expect(causes(passed, { ...passed, name: 'other.log' })).toMatchObject([{ generic: true }]);
  });
  it('are each shown with their own log only', () => {
    const shown = read([units, types]).causes.map(({ reading }) => [
      ...new Set(reading.excerpts.map(({ source }) => source)),
    ]);
    expect(shown).toEqual([['units.log'], ['types.log']]);
  });
});

describe('what a later reading adds', () => {
  const a = (fingerprint: string) =>
    sampleFailure('bld_1', fingerprint, { test: createFailingTest('test_a') });
  const b = sampleFailure('bld_1', 'bb', { test: createFailingTest('test_b') });
  const stored = [{ ...sampleGroup('bld_1', 'aa'), failures: [a('aa')] }];

  it('is nothing if all tests are known, even if their fingerprint changed', () => {
    expect(findGroupsToSave([{ ...sampleGroup('bld_1', 'cc'), failures: [a('cc')] }], stored)).toEqual([]);
  });
  it('joins the group with the same cause', () => {
    const later = { ...sampleGroup('bld_1', 'bb'), failures: [b, a('aa')] };
    expect(findGroupsToSave([later], stored)).toEqual([
      { fingerprint: stored[0]?.fingerprint, generic: false, failures: [b] },
    ]);
  });
  it('does not join a group without any information', () => {
    const later = { ...sampleGroup('bld_1', 'bb'), failures: [b, a('aa')] };
    const generic = stored.map((group) => ({ ...group, generic: true }));
    expect(findGroupsToSave([later], generic)).toEqual([{ ...later, failures: [b] }]);
  });
  it('is a group of its own if it has no information', () => {
    const later = { ...sampleGroup('bld_1', 'bb'), failures: [b] };
    expect(findGroupsToSave([later], stored)).toEqual([later]);
  });
});
