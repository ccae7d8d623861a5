import type { NoticeChannel } from '../channels/channel.ts';
import type { Build, CiSystem } from '../domain/build.ts';
import type { BuildSource } from '../ports/build-source.ts';
import type { CodeHost } from '../ports/code-host.ts';
import type { Check } from '../ports/health.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { Connection } from './connection.ts';
import type { NamedRuns } from './named-runs.ts';
import type { Webhook, WebhookContent } from './webhook.ts';

/**
 * A CI system or code host, with its settings: its webhooks, the source of its data, and its notices.
 * Creating one loads and requests nothing; libraries are loaded when a part is opened.
 */
export interface Provider {
  readonly name: CiSystem;
  readonly webhook: Webhook;
  /** The configured secrets, which must not appear in any log, prompt or answer. */
  readonly secrets: readonly string[];
  /** Returns the setup instructions for the provider. */
  connection(): Promise<Connection>;
  openBuildSource(options: FetchOptions): Promise<BuildSource>;
  /** Opens the reader of past runs. Null if the provider or the configuration does not allow reading them. */
  readonly openPastRuns:
    | ((options: { readonly logger: Logger; readonly timeoutMs: number }) => Promise<PastRuns>)
    | null;
  /** The runs that a person can name by their address; null if they are not read here. */
  readonly runs: NamedRuns | null;
  /** The code host; null if the provider hosts no code. */
  readonly code: ProviderCode | null;
  /** The notices that are kept up to date there, as configured. */
  readonly channels: readonly NoticeChannel[];
  /**
   * Reruns the failed jobs of a build. Null if that is not possible or not configured. Throws TriageError.
   */
  readonly rerun:
    | ((build: Build, options: { readonly logger: Logger; readonly signal: AbortSignal }) => Promise<void>)
    | null;
  /** Lists the checks of the configured access. `repositories` are some that it should have access to. */
  checks(repositories: readonly string[]): Check[];
}

export interface FetchOptions {
  readonly logger: Logger;
  /** The time limit of one whole fetch in milliseconds. */
  readonly timeoutMs: number;
  /** The maximum size of all logs of a build together, decompressed. */
  readonly maxLogBytes: number;
}

export interface ProviderCode {
  /** True if there are credentials. The provider is then used when no other is specified. */
  readonly configured: boolean;
  /** The URL of the API, which is shown to people. */
  readonly baseUrl: string;
  /** Opens the code host. `timeoutMs` is the time limit of one request. */
  open(options: { readonly logger: Logger; readonly timeoutMs: number }): Promise<CodeHost>;
}

/** A run that has ended, as its CI lists it. */
export interface PastRun {
  readonly externalId: string;
  /** The number of the attempt; null if the CI does not count attempts. */
  readonly attempt: number | null;
  /**
   * Returns the content that the event of the run would have had. Throws as `BuildSource.fetch` does, and
   * `not-found` if the run was deleted.
   */
  load(signal: AbortSignal): Promise<WebhookContent>;
}

/** The past runs of a repository. */
export interface PastRuns {
  /** Lists runs that began or changed after `since`, newest first. Throws as `BuildSource.fetch` does. */
  list(repository: string, since: Date, signal: AbortSignal): AsyncIterable<PastRun>;
}
