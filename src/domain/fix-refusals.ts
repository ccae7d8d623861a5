import { readDiff } from '../lib/unified-diff.ts';
import { GUARDED_CI_FILES } from './ci-files.ts';
import { changesHowTestsRun } from './test-setup.ts';

export const MAX_FILES = 30;
/** The maximum number of added and deleted lines together. Lock files do not count. */
const MAX_LINES = 500;

/** The files that a change may touch only on request. */
export interface Allowed {
  readonly tests: boolean;
  readonly workflows: boolean;
}

export interface Change {
  readonly path: string;
  /** The git file modes before and after: 120000 is a symbolic link, 160000 a submodule. */
  readonly modes: readonly string[];
  /** The number of added lines. Null if the file is not text. */
  readonly added: number | null;
  readonly deleted: number | null;
  /** The part of a unified diff that describes it. The more of the file it shows, the more can be allowed. */
  readonly diff: string;
}

const LOCK_FILES = new RegExp(
  String.raw`^(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lock|` +
    String.raw`(?:uv|poetry|Cargo|Gemfile|composer|Pipfile)\.lock|go\.sum)$`,
);
const SECRETS = new RegExp(
  String.raw`^(?:\.env(?:\.(?!example$|sample$|template$).*)?|\.npmrc|\.pypirc|\.netrc|` +
    String.raw`\.git-credentials|\.htpasswd|kubeconfig|id_(?:rsa|dsa|ecdsa|ed25519).*|` +
    String.raw`credentials?(?:\.\w+)?|secrets?\.\w+|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx))$`,
  'i',
);
const SECRET_FOLDERS = /(?:^|\/)\.(?:aws|ssh|gnupg|docker|kube)\//i;
const TEST_FOLDERS = new RegExp(
  '(?:^|/)(?:tests?|specs?|__tests__|__snapshots__|__mocks__|e2e|' +
    'testdata|fixtures|golden|features|cypress)/',
);
const TEST_NAMES = new RegExp(
  String.raw`^test_|^conftest\.py$|\.(?:test|spec|tests|cy|snap|golden|feature|bats)(?:\.|$)|` +
    String.raw`_(?:test|tests|spec)\.\w{1,8}$|[a-z\d](?:Tests?|Spec|IT)\.[a-z]{1,8}$`,
);
const TEST_SETTINGS = new RegExp(
  String.raw`^(?:(?:jest|vitest|playwright|karma|cypress)\.(?:config|setup)\..*|\.mocharc.*|` +
    String.raw`pytest\.ini|tox\.ini|phpunit\.xml.*|\.rspec)$`,
  'i',
);

/**
 * Returns the reasons why a diff must not be tried or shown, based on the files it touches; empty if there
 * are none. A text that does not parse as a diff to its last line is refused too, because another tool might
 * read it differently.
 */
export function refuseFix(diff: string, allowed: Allowed): string[] {
  const changes = readDiff(diff);
  return changes === null ? ['it is no diff as git writes it'] : refuseChanges(changes, allowed);
}

/** Returns the same reasons for a change whose files are known. */
export function refuseChanges(changes: readonly Change[], allowed: Allowed): string[] {
  if (changes.length === 0) return ['it changes nothing'];
  if (changes.length > MAX_FILES) return [`it changes ${changes.length} files, more than ${MAX_FILES}`];
  const lines = changes.reduce(
    (sum, { path, added, deleted }) =>
      sum + (LOCK_FILES.test(getBaseName(path)) ? 0 : (added ?? 0) + (deleted ?? 0)),
    0,
  );
  const refusals = lines > MAX_LINES ? [`it changes ${lines} lines, more than ${MAX_LINES}`] : [];
  for (const change of changes) {
    const why = refuseChange(change, allowed);
    if (why !== null) refusals.push(`${change.path} ${why}`);
  }
  return refusals;
}

function refuseChange({ path, modes, added, diff }: Change, allowed: Allowed): string | null {
  const [name, folders] = [getBaseName(path), path.split('/')];
  if (
    path.includes('\\') ||
    UNSEEN.test(path) ||
    folders.some((folder) => folder === '' || folder === '.' || folder === '..')
  )
    return 'is no path of this repository';
  if (folders.some((folder) => folder.toLowerCase() === '.git')) return "belongs to git's own files";
  if (modes.includes('120000')) return 'is a symbolic link';
  if (modes.includes('160000') || name === '.gitmodules') return 'is a submodule';
  if (SECRETS.test(name) || SECRET_FOLDERS.test(path)) return 'may hold secrets';
  if (added === null) return 'is no text';
  if (!allowed.workflows && GUARDED_CI_FILES.test(path))
    return 'is part of the CI or of the settings of the repository; allow it with --allow-workflows';
  if (!allowed.tests && (isTestFile(path) || TEST_SETTINGS.test(name)))
    return 'says what the tests expect; allow it with --allow-tests';
  if (!allowed.tests && !LOCK_FILES.test(name) && changesHowTestsRun(path, diff))
    return 'says how the tests run; allow it with --allow-tests';
  return null;
}

/** The control and invisible characters, which file systems may ignore in a path. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/** Tells by its name whether a file contains tests or their expectations. */
export function isTestFile(path: string): boolean {
  return TEST_FOLDERS.test(path) || TEST_NAMES.test(getBaseName(path));
}

/** Tells whether the name is that of a lock file, in which a tool keeps resolved versions. */
export function isLockFile(name: string): boolean {
  return LOCK_FILES.test(name);
}

function getBaseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
