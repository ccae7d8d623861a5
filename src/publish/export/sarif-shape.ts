import type { Build } from '../../domain/build.ts';

/** Of SARIF 2.1.0 what Faultline writes. */
export interface SarifLog {
  readonly $schema: string;
  readonly version: '2.1.0';
  readonly runs: readonly SarifRun[];
}

interface SarifRun {
  readonly tool: { readonly driver: { readonly name: string; readonly semanticVersion: string; readonly rules: readonly SarifRule[] } };
  readonly automationDetails: { readonly id: string };
  readonly versionControlProvenance?: readonly { readonly repositoryUri: string; readonly revisionId?: string; readonly branch?: string }[];
  readonly originalUriBaseIds: Readonly<Record<string, { readonly description: SarifMessage }>>;
  readonly columnKind: 'utf16CodeUnits';
  readonly results: readonly SarifResult[];
  readonly properties: Readonly<Record<string, unknown>>;
}

interface SarifRule {
  readonly id: string;
  readonly shortDescription: SarifMessage;
}

export interface SarifResult {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: 'error' | 'warning';
  readonly message: SarifMessage;
  readonly locations: readonly SarifLocation[];
  readonly relatedLocations: readonly SarifLocation[];
  readonly partialFingerprints: Readonly<Record<string, string>>;
  readonly hostedViewerUri?: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

interface SarifLocation {
  readonly id?: number;
  readonly physicalLocation: {
    readonly artifactLocation: { readonly uri: string; readonly uriBaseId?: string };
    readonly region: { readonly startLine: number; readonly snippet?: SarifMessage };
  };
  readonly message: SarifMessage;
}

interface SarifMessage {
  readonly text: string;
}

/** A path as a relative URI below the repository's root; null where it does not lie there (absolute, of a drive, or upwards). */
export function repositoryPath(path: string): string | null {
  const parts = path.toWellFormed().replaceAll('\\', '/').replace(/^\.\//, '').split('/');
  const [first = ''] = parts;
  if (path === '' || path.length > 1_000 || first === '' || first.includes(':') || parts.includes('..')) return null;
  return parts.map(encodeURIComponent).join('/');
}

/** The repository's own address, where the build's tells it; null elsewhere. */
export function repositoryAddress({ provider, url, repository }: Build): string | null {
  if (provider !== 'github' || url === null || !URL.canParse(url)) return null;
  const { origin, protocol } = new URL(url);
  return protocol === 'https:' || protocol === 'http:' ? `${origin}/${repository.split('/').map(encodeURIComponent).join('/')}` : null;
}
