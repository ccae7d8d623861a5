import { visibleLine } from '../../publish/visible-text.ts';
import { type CaseProblem, type CheckedCases, checkCases } from '../../replay/cases/check.ts';
import { casesAt } from '../../replay/cases/folder.ts';
import { terminalConfig } from '../command-parts.ts';
import { EXIT } from '../exit-codes.ts';
import { interruptSignal, jsonText, print, say } from '../terminal.ts';
import { counted, countRows } from './cases-text.ts';

export interface CheckCommandOptions {
  readonly logs: boolean;
  readonly json?: boolean;
}

/** What `--json` lists; all are counted, and all are said on standard error. */
const MAX_LISTED = 1_000;
const MAX_PROJECTS = 10;

/** `faultline cases check`: everything that is wrong with a data set, and what the rest of it holds. */
export async function runCasesCheck(path: string, options: CheckCommandOptions): Promise<void> {
  const signal = interruptSignal();
  const { http } = await terminalConfig();
  const listed: CaseProblem[] = [];
  const onProblem = (problem: CaseProblem) => {
    if (listed.length < MAX_LISTED) listed.push(problem);
    if (!options.json) say(problemText(problem));
  };
  const logs = options.logs ? { maxBytes: http.maxLogBytes } : null;
  const checked = await checkCases(await casesAt(path), { logs, onProblem }, signal);
  await print(options.json ? jsonText({ ok: checked.problems === 0, ...checked, listed }) : checkText(checked));
  if (checked.problems > 0) process.exitCode = EXIT.unreadable;
}

function problemText({ line, id, field, reason }: CaseProblem): string {
  return [
    `line ${line}`,
    id === null ? '' : ` (${jsonText({ id }).slice(6, -1)})`,
    field === null ? '' : `, ${visibleLine(field)}`,
    `: ${visibleLine(reason)}`,
  ].join('');
}

function checkText({ cases, good, problems, categories, projects, dated }: CheckedCases): string {
  const wrong = problems === 0 ? 'no problems' : `${counted(problems, 'problem')}, ${counted(good, 'case')} without one`;
  const several = Object.keys(projects).length;
  return [
    `${counted(cases, 'case')}: ${wrong}. ${counted(good, 'good one')}, ${dated} with a time:`,
    ...countRows(categories),
    `of ${counted(several, 'project')}:`,
    ...countRows(projects, MAX_PROJECTS),
  ].join('\n');
}
