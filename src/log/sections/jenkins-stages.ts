import type { Mark } from './system.ts';

/** A stage or branch of a pipeline. */
export interface JenkinsStage {
  readonly name: string;
  /** Names of the stages around it, outermost first. */
  readonly outer: readonly string[];
  readonly start: number;
  end: number;
  /** Whether a step of its own ran in it, rather than only in a stage inside it. */
  stepAt: number | null;
  readonly isCleanUp: boolean;
}

/** Blocks that Jenkins opens itself, and what runs when everything is over. */
const NOT_A_STAGE = /^(?:hide|Declarative: (?:Checkout SCM|Tool Install|Agent Setup))$/;
const BRANCH = 'Branch: ';
const POST = 'Declarative: Post Actions';
/** Steps that only hold other steps. */
const NO_STEP =
  /^\[Pipeline\] (?!\/\/|stage\b|End\b|Start\b|node\b|parallel\b|with\w+\b|timeout\b|script\b|catchError\b|retry\b|dir\b|ws\b)\w/;

/** The stages of a pipeline log, in the order they were opened. */
export function stagesOf(marks: readonly Mark[], lineCount: number): JenkinsStage[] {
  const open: (JenkinsStage | null)[] = [];
  const stages: JenkinsStage[] = [];
  for (const { line, text } of marks) {
    if (text.startsWith('Post stage')) endOwnSteps(open, line);
    if (!text.startsWith('[Pipeline] ')) continue;
    if (text.startsWith('[Pipeline] {')) {
      const stage = openedStage(line, text, open, lineCount);
      open.push(stage);
      if (stage !== null) stages.push(stage);
    } else if (text.startsWith('[Pipeline] }')) {
      const closed = open.pop();
      if (closed != null && closed.end === lineCount) closed.end = line;
    } else if (NO_STEP.test(text)) {
      const inner = open.findLast((stage) => stage !== null);
      if (inner != null) inner.stepAt ??= line;
    }
  }
  return stages;
}

function openedStage(line: number, text: string, open: readonly (JenkinsStage | null)[], lineCount: number): JenkinsStage | null {
  const name = /^\[Pipeline\] \{ \((.{1,120})\)$/.exec(text)?.[1];
  if (name === undefined || NOT_A_STAGE.test(name)) return null;
  const around = open.flatMap((stage) => (stage === null ? [] : [stage.name]));
  const branches = around.filter((one) => one.startsWith(BRANCH));
  // Branches run side by side: their marks mix, and which of several open ones a stage is in cannot be told.
  const isMixed = name.startsWith(BRANCH) || branches.length > 1;
  const known = isMixed && branches.length > 0 ? around.slice(0, around.indexOf(branches[0] ?? '')) : around;
  const outer = known.map((one) => one.replace(BRANCH, ''));
  return { name, outer, start: line, end: lineCount, stepAt: null, isCleanUp: name === POST };
}

/** A stage's own post actions stand inside of it, below this word. */
function endOwnSteps(open: readonly (JenkinsStage | null)[], line: number): void {
  const inner = open.findLast((stage) => stage !== null);
  if (inner != null) inner.end = line;
}
