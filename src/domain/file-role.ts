import { readChanges } from '../lib/patch-changes.ts';
import { CI_FILES, GUARDED_CI_FILES } from './ci-files.ts';
import { isLockFile, isTestFile } from './fix-refusals.ts';

/** The part that a file has in a build. */
export type FileRole = 'workflow' | 'dependency' | 'settings' | 'test' | 'document' | 'code';

/** The facts of a changed file that determine its role. `patch` is its part of a unified diff. */
export interface RoleFile {
  readonly path: string;
  readonly patch: string | null;
}

/**
 * Returns the role of a changed file in a build by its name. The role of a manifest that also contains other
 * settings depends on the changed lines.
 */
export function findFileRole({ path, patch }: RoleFile): FileRole {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (isLockFile(name) || DEPENDENCIES.test(name)) return 'dependency';
  if (CI_FILES.some((pattern) => pattern.test(path)) || GUARDED_CI_FILES.test(path)) return 'workflow';
  if (isTestFile(path)) return 'test';
  if (MANIFESTS.test(name)) return changesVersions(patch) ? 'dependency' : 'settings';
  if (SETTINGS.test(name)) return 'settings';
  return DOCUMENTS.test(path) ? 'document' : 'code';
}

/** The files that contain only the dependencies of a project. */
const DEPENDENCIES = new RegExp(
  String.raw`^(?:(?:[\w-]{1,40}[-_])?requirements[\w.-]*\.(?:txt|in)|constraints[\w.-]*\.txt|go\.mod|` +
    String.raw`Pipfile|Gemfile|Podfile|mix\.lock|libs\.versions\.toml|` +
    String.raw`Directory\.Packages\.props|packages\.config)$`,
);
/** The files that contain dependencies and other settings. */
const MANIFESTS = new RegExp(
  String.raw`^(?:package\.json|pyproject\.toml|setup\.(?:py|cfg)|Cargo\.toml|composer\.json|pom\.xml|` +
    String.raw`build\.gradle(?:\.kts)?|pubspec\.yaml|mix\.exs|Package\.swift|environment\.ya?ml|` +
    String.raw`.*\.(?:csproj|fsproj|gemspec))$`,
);
const SETTINGS = new RegExp(
  String.raw`^(?:\..{1,80}|(?:Docker|Container)file[\w.-]*|Makefile|Justfile|Taskfile[\w.-]*|Procfile|` +
    String.raw`CODEOWNERS|gradlew|mvnw)$|\.(?:ya?ml|toml|ini|cfg|conf|config|properties|json5?|env|tf|` +
    `tfvars|nix|lock|xml|plist)$`,
);
const DOCUMENTS = new RegExp(
  String.raw`\.(?:md|mdx|rst|adoc|txt|png|svg|jpe?g|gif|pdf)$|^docs?\/|` +
    String.raw`(?:^|\/)(?:LICENSE|NOTICE|AUTHORS|CHANGELOG|README)(?:\.\w{1,8})?$`,
  'i',
);

/** The pattern of a version or a range in a manifest. */
const VERSION = /(?:[\^~=<>!v"'([:>]|\s|@)\d{1,6}(?:\.(?:\d{1,6}|x|\*)){1,3}/;

/** Tells whether the changed lines of a manifest state versions, so that dependencies changed. */
function changesVersions(patch: string | null): boolean {
  if (patch === null) return false;
  const lines = readChanges(patch).flatMap(({ removed, added }) => [...removed, ...added]);
  const stated = lines.filter((line) => /\w/.test(line));
  return (
    stated.length > 0 && stated.filter((line) => VERSION.test(line.slice(0, 300))).length * 2 >= stated.length
  );
}
