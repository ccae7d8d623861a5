import { describe, expect, it } from 'vitest';
import { readSources } from '../../src/log/read-sources.ts';

const skipped = (name: string, context: string) =>
  `[Pipeline] stage\n[Pipeline] { (${name})\nStage "${name}" skipped due to earlier failure(s)\n${context}[Pipeline] }\n[Pipeline] // stage\n`;
const console = (context: string) => `[Pipeline] Start of Pipeline
[Pipeline] stage
[Pipeline] { (Build)
[Pipeline] sh
+ ./gradlew assemble
curl: (6) Could not resolve host: repo.example.test
[Pipeline] }
[Pipeline] // stage
${skipped('Test', context)}${skipped('Deploy', context)}[Pipeline] stage
[Pipeline] { (Declarative: Post Actions)
[Pipeline] junit
Recording test results
[Checks API] No suitable checks publisher found.
[Pipeline] archiveArtifacts
Archiving artifacts
Skipped archiving because build is not successful
[Pipeline] }
[Pipeline] // stage
[Pipeline] End of Pipeline
ERROR: script returned exit code 6
Finished: FAILURE
`;

function read(text: string) {
  return readSources([{ name: 'log', kind: 'log', notes: [], text }], { budgetTokens: 2_000 });
}

describe('a Jenkins pipeline', () => {
  it.each([
    ['with getContext', '[Pipeline] getContext\n'],
    ['without it', ''],
  ])('failed in the stage that ran, not in a skipped one: %s', (_, context) => {
    const { failedSections, messages } = read(console(context));
    expect(failedSections.map(({ name }) => name)).toEqual(['Build']);
    expect(messages[0]?.text).toBe('curl: (6) Could not resolve host: repo.example.test');
  });

  it.each([
    '[Checks API] No suitable checks publisher found.',
    'Archiving artifacts',
    'Skipped archiving because build is not successful',
    'Recording test results',
    'No artifacts found that match the file pattern "build/*.jar".',
  ])('has no headline from a notice after the build: %s', (notice) => {
    expect(read(`${notice}\nFinished: FAILURE\n`).messages.map(({ text }) => text)).not.toContain(notice);
  });
});

describe('a make command that was ended by a signal', () => {
  it.each([
    'make: *** [test] Segmentation fault',
    'make: *** [Makefile:7: test] Aborted (core dumped)',
    'gmake[1]: *** [test] Bus error',
  ])('is the failure: %s', (line) => {
    expect(read(`./scales\n${line}\n`).messages[0]?.text).toBe(line);
  });
});
