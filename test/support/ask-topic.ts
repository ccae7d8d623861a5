import type { Topic } from '../../src/ports/analyst.ts';
import { listTopicFacts } from '../../src/service/ask/topic-facts.ts';
import { sampleAnalysis, sampleBuild, sampleFailure } from './sample-analysis.ts';
import { sampleSubject } from './subject.ts';

/** Returns an analysis of a cart's failed test as the topic of questions. */
export function sampleTopic(change: Partial<Topic> = {}): Topic {
  const build = sampleBuild();
  const analysis = sampleAnalysis();
  const failures = [sampleFailure()];
  const sources = [{ name: 'build.log', lines: 311_101, bytes: 29_600_000 }];
  const subject = sampleSubject({ build, failures, sources });
  return {
    build,
    analysis,
    subject,
    otherCauses: [],
    facts: listTopicFacts(analysis, subject.failingTests, [], null),
    ...change,
  };
}
