import { describe, expect, it } from 'vitest';
import { groupsOf, subjectOf } from '../../../src/service/triage/group.ts';
import { failingTest, sampleReading } from '../../support/reading.ts';
import { sampleBuild } from '../../support/subject.ts';

const excerpt = (lineStart: number, lineEnd: number) => ({ source: 'build.log', lineStart, lineEnd, text: 'x', reason: 'r', weight: 1 });

describe('subjectOf', () => {
  const reading = sampleReading({
    failingTests: [failingTest('test_a', 'one thing', 12), failingTest('test_b', 'another matter', 102)],
    excerpts: [excerpt(10, 20), excerpt(100, 110), excerpt(400, 410)],
    messages: [
      { text: 'of a', at: { source: 'build.log', line: 13 }, weight: 1 },
      { text: 'of b', at: { source: 'build.log', line: 103 }, weight: 1 },
    ],
  });
  const groups = groupsOf(reading, 'bld_1');
  const subject = (index: number) => {
    const group = groups[index];
    if (group === undefined) throw new Error('no such group');
    return subjectOf({ triageId: 't', build: sampleBuild(), group, groups, reading, notes: ['said'] });
  };

  it('leaves out what belongs to other causes only, and keeps what is shared', () => {
    expect(subject(0).excerpts.map((one) => one.lineStart)).toEqual([10, 400]);
    expect(subject(0).messages.map((one) => one.text)).toEqual(['of a']);
    expect(subject(1).excerpts.map((one) => one.lineStart)).toEqual([100, 400]);
    expect(subject(1).failingTests.map((one) => one.name)).toEqual(['test_b']);
  });

  it('hands on what was noted', () => {
    expect(subject(0).notes).toContain('said');
  });
});
