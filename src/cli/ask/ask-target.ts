import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { TriageError } from '../../domain/errors.ts';
import { formatCount } from '../../lib/text.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import { isDirectory } from '../triage/input.ts';

/** The ways in which a folder or file is asked about. */
export type TargetKind = 'repository' | 'documents' | 'logs';

/** The options by which a person says what a folder is. */
export interface TargetOptions {
  readonly code?: boolean;
  readonly documents?: boolean;
  readonly logs?: boolean;
}

const OPTION = { repository: '--code', documents: '--documents', logs: '--logs' } as const;
const MAX_ENTRIES = 5_000;
const MAX_DEPTH = 3;

const LOG = new RegExp(
  String.raw`(?:\.log(?:\.gz|\.zst)?|\.out|\.trx|\.tap)$|^(?:TEST-|junit)[^/]*\.xml$|` +
    String.raw`^console(?:Text|\.txt)$|^\d+_[^/]*\.txt$`,
  'i',
);
const DOCUMENT = new RegExp(
  String.raw`\.(?:pdf|docx|pptx|xlsx|md|markdown|html?|rst|adoc)$|` +
    String.raw`^llms(?:-full)?\.txt$|^readme(?:\.txt)?$`,
  'i',
);
const CODE =
  /\.(?:[cm]?[jt]sx?|py|go|rs|java|kts?|scala|cs|c|h|cc|cpp|hpp|rb|php|swift|dart|ex|sh|sql|vue|svelte)$/i;
/** Files at the top of a folder by which it is a project, whatever else it holds. */
const MANIFEST = new RegExp(
  String.raw`^(?:\.git|package\.json|pyproject\.toml|setup\.py|Cargo\.toml|go\.mod|pom\.xml|` +
    String.raw`build\.gradle(?:\.kts)?|Gemfile|composer\.json|CMakeLists\.txt|Makefile|` +
    String.raw`\w[\w.-]*\.(?:csproj|sln|gemspec))$`,
);

/**
 * Decides what a file or folder is asked as. Throws `invalid-config` if it holds several of logs, documents
 * and code, and no option says which is meant.
 */
export async function chooseTargetKind(path: string, options: TargetOptions): Promise<TargetKind> {
  const named = (['repository', 'documents', 'logs'] as const).filter((kind) => isNamed(kind, options));
  if (named.length > 1)
    throw new TriageError(
      'invalid-config',
      `Use one of ${named.map((kind) => OPTION[kind]).join(' and ')}, not several.`,
    );
  const [kind] = named;
  if (path === '-' || !isDirectory(path)) {
    if (kind === undefined || kind === 'logs') return 'logs';
    throw new TriageError(
      'invalid-config',
      `${toVisibleLine(path)} is no folder; ${OPTION[kind]} needs one.`,
    );
  }
  return kind ?? decide(path, await countFiles(path));
}

function isNamed(kind: TargetKind, { code, documents, logs }: TargetOptions): boolean {
  return { repository: code, documents, logs }[kind] === true;
}

interface Counts {
  readonly isProject: boolean;
  /** Logs at the top; deeper ones in a project are fixtures of its tests. */
  readonly logsAtTop: number;
  readonly logs: number;
  readonly documents: number;
  readonly code: number;
}

function decide(path: string, { isProject, logsAtTop, logs, documents, code }: Counts): TargetKind {
  const isCode = isProject || code > 0;
  const countedLogs = isProject ? logsAtTop : logs;
  if (countedLogs > 0 && (isCode || documents > 0)) {
    const holds = [
      formatCount(countedLogs, 'log'),
      ...(isCode ? ['source code'] : []),
      ...(documents > 0 ? [formatCount(documents, 'document')] : []),
    ];
    throw new TriageError(
      'invalid-config',
      `${toVisibleLine(path)} holds ${holds.join(', ')}. Say which is meant: ` +
        '--logs (why the build failed), --code (the repository), or --documents (the documents in it).',
    );
  }
  if (isCode) return 'repository';
  return documents > 0 ? 'documents' : 'logs';
}

async function countFiles(folder: string): Promise<Counts> {
  const counts = { isProject: false, logsAtTop: 0, logs: 0, documents: 0, code: 0 };
  let left = MAX_ENTRIES;
  const waiting = [{ path: folder, depth: 0 }];
  for (let next = waiting.shift(); next !== undefined && left > 0; next = waiting.shift()) {
    const entries = await readdir(next.path, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      left -= 1;
      if (next.depth === 0 && MANIFEST.test(entry.name)) counts.isProject = true;
      if (entry.isDirectory()) {
        const isSource = !/^(?:\.|node_modules$)/.test(entry.name);
        if (isSource && next.depth < MAX_DEPTH)
          waiting.push({ path: join(next.path, entry.name), depth: next.depth + 1 });
      } else if (LOG.test(entry.name)) {
        counts.logs += 1;
        if (next.depth === 0) counts.logsAtTop += 1;
      } else if (DOCUMENT.test(entry.name)) counts.documents += 1;
      else if (CODE.test(entry.name)) counts.code += 1;
    }
  }
  return counts;
}
