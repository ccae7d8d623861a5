import type { Section } from '../../domain/failure.ts';
import type { LogText } from '../lines/lines.ts';
import { freestyleFailures } from './jenkins-freestyle.ts';
import type { JenkinsStage } from './jenkins-stages.ts';
import { stagesOf } from './jenkins-stages.ts';
import type { CiSystem, Mark } from './system.ts';
import { failedSection, withConsequences } from './system.ts';

/** Jenkins: pipelines mark their blocks, branches of `parallel` are named where they failed, freestyle jobs name the build step. */
export const jenkins: CiSystem = {
  name: 'jenkins',
  literals: [
    '[pipeline]',
    'finished: failure',
    'finished: unstable',
    'finished: aborted',
    'marked build as failure',
    'changed build result to',
    'failed in branch',
    'skipped due to earlier',
    'error: script returned exit code',
    'post stage',
    '] $ ',
  ],
  failures: (log, all) => {
    const marks = all.map(({ line, text }) => ({ line, text: text.trimStart() }));
    if (!marks.some(({ text }) => /^Finished: (?:FAILURE|UNSTABLE|ABORTED)/.test(text))) return [];
    const freestyle = freestyleFailures(log, marks);
    return freestyle.length > 0 ? freestyle : withConsequences(pipelineFailures(log, marks));
  },
};

function pipelineFailures(log: LogText, marks: readonly Mark[]): readonly Section[] {
  const stages = stagesOf(marks, log.lineCount);
  const branches = failedBranches(log, marks, stages);
  if (branches.length > 0) return branches;
  const told = stages.filter((stage) => complaintIn(marks, stage, stages) !== null);
  if (told.length > 0) return told.map((stage) => sectionOf(log, stage, complaintIn(marks, stage, stages)?.line ?? stage.end));
  const over = marks.find(({ text }) => /skipped due to earlier failure/.test(text))?.line ?? log.lineCount;
  const last = stages.findLast(({ start, stepAt, isCleanUp }) => start < over && stepAt !== null && !isCleanUp);
  return last === undefined ? lastStep(log, marks) : [sectionOf(log, last, last.end)];
}

/** Branches run at once, so what stands between a branch's start and the word that it failed may be of others too. */
function failedBranches(log: LogText, marks: readonly Mark[], stages: readonly JenkinsStage[]): Section[] {
  return marks.flatMap(({ line, text }) => {
    const name = /^Failed in branch (.{1,100})$/.exec(text)?.[1];
    const branch = name === undefined ? undefined : stages.findLast((stage) => stage.name === `Branch: ${name}` && stage.start < line);
    if (branch === undefined) return [];
    return [failedSection(log, [...branch.outer, name ?? ''], branch.start, Math.max(branch.end, line))];
  });
}

/** `catchError` and the like tell of an error inside the stage; what fails the build is told after the pipeline's end. */
function complaintIn(marks: readonly Mark[], stage: JenkinsStage, stages: readonly JenkinsStage[]): Mark | null {
  if (stage.isCleanUp) return null;
  const inner = stages.filter(({ start, end }) => start > stage.start && end <= stage.end);
  const isOwn = (line: number) => line > stage.start && line < stage.end && !inner.some(({ start, end }) => line > start && line < end);
  return marks.find(({ line, text }) => text.startsWith('ERROR: script returned exit code') && isOwn(line)) ?? null;
}

/** Scripted pipelines may have no stage at all: the step that ran last before the end of everything. */
function lastStep(log: LogText, marks: readonly Mark[]): Section[] {
  const step = marks.findLast(({ text }) => /^\[Pipeline\] (?:sh|bat|powershell|pwsh|error)$/.test(text));
  if (step === undefined) return [];
  const next = marks.find(({ line, text }) => line > step.line && text.startsWith('[Pipeline] '));
  return [failedSection(log, [step.text.slice('[Pipeline] '.length)], step.line, next?.line ?? log.lineCount)];
}

function sectionOf(log: LogText, { outer, name, start }: JenkinsStage, end: number): Section {
  return failedSection(log, [...outer, name], start, Math.min(end, log.lineCount));
}
