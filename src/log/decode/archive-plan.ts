/** What is read of an archive: one text of one file, or of the files of a job's steps in their order. */
export interface PlannedText {
  /** Its path in the archive, or for steps that of their folder. */
  readonly path: string;
  readonly parts: readonly string[];
  /** The names of a job's steps, where the archive tells them. */
  readonly steps: readonly string[];
}

const SKIPPED_FOLDERS = new Set(['.git', 'node_modules', '__MACOSX', '.svn', '__pycache__']);
/** What CI systems write logs, reports and archives of them as; a file without an ending may be a log. */
const ENDINGS =
  /\.(?:log|txt|out|err|stdout|stderr|text|console|xml|trx|tap|json|jsonl|ndjson|sarif|ctrf|gz|tgz|zst|tzst|zip|tar|\d{1,3})$|(?:^|\/)[^./]{1,100}$/i;
const STEP = /^(?:(?<folder>.*)\/)?(?<number>-?\d{1,5})_(?<name>[^/]{1,300})\.txt$/;

const NUMERIC = new Intl.Collator('en', { numeric: true });

/** Whether a file's name allows that it holds a log, a report, or an archive of them. */
export function mayBeRead(path: string): boolean {
  const parts = path.split(/[/\\]/);
  return ENDINGS.test(path) && !parts.some((part) => SKIPPED_FOLDERS.has(part)) && !parts.at(-1)?.startsWith('._');
}

/**
 * Chooses what is read of the files of an archive or folder, in the order of their names. GitHub's log archives hold each job's log whole,
 * `0_build.txt`, and again step by step, `build/3_Run tests.txt`: the whole is read once, and the steps only where it is missing.
 */
export function planTexts(paths: readonly string[]): PlannedText[] {
  const sorted = [...new Set(paths)].filter(mayBeRead).sort(NUMERIC.compare);
  const jobs = new Map(sorted.flatMap((path) => wholeJob(path)));
  const stepsOf = Map.groupBy(
    sorted.filter((path) => STEP.exec(path)?.groups?.folder !== undefined),
    (path) => folderOf(path),
  );
  const plan: PlannedText[] = [];
  for (const path of sorted) {
    const folder = folderOf(path);
    const steps = stepsOf.get(folder) ?? [];
    const isSystem = path === `${folder}/system.txt` && steps.length > 0;
    if (jobs.has(folder) && (steps.includes(path) || isSystem)) continue;
    if (!steps.includes(path) || steps.length < 2 || !isJobFolder(steps)) {
      if (!isSystem) plan.push({ path, parts: [path], steps: namesOf(stepsOf.get(jobFolderOf(path, jobs)) ?? []) });
    } else if (path === steps[0]) plan.push({ path: `${folder}.txt`, parts: steps, steps: namesOf(steps) });
  }
  return plan;
}

/** Names are for people: no part climbs, and nothing in them moves a cursor. */
export function safePath(path: string): string {
  const parts = path.split(/[/\\]/).filter((part) => part !== '' && part !== '.' && part !== '..');
  return (
    parts
      .join('/')
      .replace(/[\0-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
      .slice(0, 300) || '(unnamed)'
  );
}

/** `logs/0_build.txt` is the whole of the steps in `logs/build/`. */
function wholeJob(path: string): [string, string][] {
  const groups = STEP.exec(path)?.groups;
  if (groups === undefined) return [];
  return [[groups.folder === undefined ? (groups.name ?? '') : `${groups.folder}/${groups.name}`, path]];
}

function jobFolderOf(path: string, jobs: ReadonlyMap<string, string>): string {
  const [job] = wholeJob(path);
  return job !== undefined && jobs.get(job[0]) === path ? job[0] : '';
}

/** Steps are numbered once each, and the first is the job's own preparation. */
function isJobFolder(steps: readonly string[]): boolean {
  const numbers = steps.map((path) => Number(STEP.exec(path)?.groups?.number));
  return new Set(numbers).size === numbers.length && /\/1_Set up job\.txt$/.test(steps[0] ?? '');
}

function namesOf(steps: readonly string[]): string[] {
  return steps.map((path) => STEP.exec(path)?.groups?.name ?? path);
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
