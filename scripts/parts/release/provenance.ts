import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** A file with its digest. */
export interface Artifact {
  readonly name: string;
  /** The SHA-256 digest of the file, as hexadecimal digits. */
  readonly sha256: string;
}

/** Reads the name and the digest of a file in a folder. */
export async function readArtifact(folder: string, name: string): Promise<Artifact> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(join(folder, name)), hash);
  return { name, sha256: hash.digest('hex') };
}

/** Formats checksums as sha256sum reads them. */
export function formatChecksums(artifacts: readonly Artifact[]): string {
  return artifacts.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join('');
}

/** The way in which a release was built. */
export interface ReleaseBuild {
  readonly version: string;
  readonly commit: string;
  /** The HTTPS address of the remote `origin`; null if it has none without credentials. */
  readonly repository: string | null;
  /** The SHA-256 of package-lock.json, which names every package and its hash. */
  readonly lockFileSha256: string;
  /** The versions of the tools by name. */
  readonly tools: Readonly<Record<string, string>>;
  /** The time in ISO 8601. */
  readonly startedOn: string;
  /** The time in ISO 8601. */
  readonly finishedOn: string;
}

/**
 * Creates the provenance of a release: an in-toto statement (version 1) with SLSA provenance (version 1).
 * It is not signed, so it does not prove who made it.
 */
export function createProvenance(artifacts: readonly Artifact[], build: ReleaseBuild): object {
  const { version, commit, repository, lockFileSha256, tools, startedOn, finishedOn } = build;
  const source = { name: 'source', digest: { gitCommit: commit } };
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: artifacts.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:faultline:release:v1',
        externalParameters: { version },
        internalParameters: { tools },
        resolvedDependencies: [
          repository === null ? source : { ...source, uri: `git+${repository}@refs/tags/v${version}` },
          { name: 'package-lock.json', digest: { sha256: lockFileSha256 } },
        ],
      },
      runDetails: {
        builder: { id: 'urn:faultline:scripts/release/release.ts' },
        metadata: { invocationId: `urn:faultline:release:${version}:${commit}`, startedOn, finishedOn },
      },
    },
  };
}
