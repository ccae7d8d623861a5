import type { Build, Provider as ProviderName } from '../domain/build.ts';
import type { BuildSource } from '../ports/build-source.ts';
import type { CodeHost } from '../ports/code-host.ts';
import type { Examination } from '../ports/examination.ts';
import type { NoticeChannel, NoticeRule } from '../ports/notices.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { Connection } from './connection.ts';
import type { Health } from './probe.ts';
import type { Reading, Webhook } from './webhook.ts';

/**
 * One CI system or code host, with its settings: what it sends, what is read there, and what is written there. Making one loads and asks
 * nothing; what needs a library is loaded when it is opened.
 */
export interface Provider {
  readonly name: Exclude<ProviderName, 'upload'>;
  readonly webhook: Webhook;
  /** Configured secrets, which are in no log, prompt or answer. */
  readonly secrets: readonly string[];
  /** How it is connected, for people who do. */
  connection(): Promise<Connection>;
  openBuildSource(options: FetchOptions): Promise<BuildSource>;
  /** Null: its past cannot be read, with what is configured or at all. */
  readonly openPastRuns: ((options: { readonly logger: Logger; readonly timeoutMs: number }) => Promise<PastRuns>) | null;
  /** Null: it holds no code. */
  readonly code: ProviderCode | null;
  /** Texts that are kept in step there, as configured. */
  readonly channels: readonly ProviderChannel[];
  /** Has the failed jobs of a build run again. Null: that is not possible, or not configured. Throws TriageError. */
  readonly rerun: ((build: Build, options: { readonly logger: Logger; readonly signal: AbortSignal }) => Promise<void>) | null;
  /** Whether it answers, for `/readyz`; null: nothing of it is configured that could be asked. */
  readonly health: ((signal: AbortSignal) => Promise<Health>) | null;
  /** What `faultline doctor` asks about it. `repositories`: some that are configured by name. */
  examine(repositories: readonly string[]): Examination[];
}

export interface FetchOptions {
  readonly logger: Logger;
  /** Of one whole fetch, in milliseconds. */
  readonly timeoutMs: number;
  /** Of all logs of a build together, decompressed. */
  readonly maxLogBytes: number;
}

export interface ProviderCode {
  /** Whether there are credentials, so that it is asked where nothing else is said. */
  readonly configured: boolean;
  /** Of its API, for people. */
  readonly baseUrl: string;
  /** `timeoutMs`: of one question. */
  open(options: { readonly logger: Logger; readonly timeoutMs: number }): Promise<CodeHost>;
}

export interface ProviderChannel {
  readonly rule: NoticeRule;
  /** Null: it is requested, but cannot be written with what is configured; `because` says why. */
  readonly open: ((options: { readonly logger: Logger; readonly publicUrl: string | null }) => Promise<NoticeChannel>) | null;
  readonly because?: string;
}

/** A run that has ended, as its CI lists it. */
export interface PastRun {
  readonly externalId: string;
  /** Null where the CI does not count: the run is known by its id alone. */
  readonly attempt: number | null;
  /** What its event would have said. Throws as `BuildSource.fetch` does, `not-found` where it was deleted. */
  load(signal: AbortSignal): Promise<Reading>;
}

/** The past of a repository's CI. */
export interface PastRuns {
  /** Runs that began, or changed, after `since`, the newest first. Throws as `BuildSource.fetch` does. */
  list(repository: string, since: Date, signal: AbortSignal): AsyncIterable<PastRun>;
}
