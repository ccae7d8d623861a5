import { compareVersions } from '../../lib/versions.ts';

/** A dependency whose version is changed by a patch of a manifest. */
export interface ManifestChange {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

/** Files that declare or lock dependencies. */
const MANIFEST =
  /(?:^|\/)(?:package(?:-lock)?\.json|pom\.xml|[\w-]*requirements[\w-]*\.(?:txt|in)|pyproject\.toml|Pipfile|Cargo\.toml|go\.mod|Gemfile|composer\.json|build\.gradle(?:\.kts)?|libs\.versions\.toml|gradle\.properties|[\w.-]+\.(?:cs|fs|vb)proj|Directory\.Packages\.props|setup\.(?:py|cfg))$/;

const VERSION = String.raw`[\^~><=v ]{0,4}(?<version>\d[\w.+-]{0,60})`;
/** Forms in which a manifest states the version of a name. */
const DECLARATIONS: readonly RegExp[] = [
  new RegExp(String.raw`^\s{0,40}"(?<name>@?[\w./-]{1,120})": ?"${VERSION}"`),
  new RegExp(String.raw`^\s{0,40}['"]?(?<name>[\w.-]{1,100})(?:\[[\w,-]{1,60}\])? ?(?:==|~=|>=)${VERSION}`),
  new RegExp(String.raw`^\s{0,40}(?<name>[\w.-]{1,100}) ?= ?(?:\{.{0,60}?version ?= ?)?["']${VERSION}["']`),
  new RegExp(String.raw`['"(](?<name>[\w.-]{1,120}:[\w.-]{1,120}):${VERSION}['")]`),
  /^\s{0,12}(?:require )?(?<name>[\w.-]{1,80}\.[\w./-]{2,160}) v(?<version>\d[\w.+-]{0,60})/,
  new RegExp(String.raw`^\s{0,40}gem ['"](?<name>[\w.-]{1,100})['"], ?['"]${VERSION}`),
  new RegExp(String.raw`(?:Include|Update)="(?<name>[\w.-]{1,120})" Version="${VERSION}"`),
  new RegExp(String.raw`^\s{0,40}<(?<name>[\w.-]{1,80}?)[.-]?[vV]ersion>${VERSION}</`),
];
const ARTIFACT = /<artifactId>(?<name>[\w.-]{1,120})<\/artifactId>/;
const BARE_VERSION = new RegExp(String.raw`^\s{0,40}<version>${VERSION}</version>`);

/**
 * Reads the dependencies whose version a unified diff of a manifest changes. Returns none if the file
 * declares no dependencies.
 */
export function readManifestChanges(path: string, patch: string): ManifestChange[] {
  if (!MANIFEST.test(path)) return [];
  const removed = new Map<string, string>();
  const changes: ManifestChange[] = [];
  let artifact: string | null = null;
  for (const line of patch.split('\n')) {
    const text = line.slice(1);
    artifact = ARTIFACT.exec(text)?.groups?.name ?? artifact;
    const declared = findDeclared(text, artifact);
    if (declared === null) continue;
    const { name, version } = declared;
    if (line.startsWith('-')) removed.set(name, version);
    const from = line.startsWith('+') ? removed.get(name) : undefined;
    if (from !== undefined && compareVersions(from, version) !== 0) changes.push({ name, from, to: version });
  }
  return changes;
}

function findDeclared(
  text: string,
  artifact: string | null,
): { readonly name: string; readonly version: string } | null {
  const bare = BARE_VERSION.exec(text)?.groups?.version;
  if (bare !== undefined) return artifact === null ? null : { name: artifact, version: bare };
  for (const pattern of DECLARATIONS) {
    const { name, version } = pattern.exec(text)?.groups ?? {};
    if (name !== undefined && version !== undefined && !/^(?:version|engines|node|npm)$/.test(name))
      return { name, version };
  }
  return null;
}
