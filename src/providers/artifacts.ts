import { sizeInWords } from '../log/decode/decompress.ts';
import { namedAs } from '../log/survey/references.ts';

/** An artifact as a CI system lists it. */
export interface Offered {
  readonly name: string;
  /** Null where the list does not say. */
  readonly bytes: number | null;
}

/** What people call the artifact that holds their JUnit reports. */
const REPORT_NAME = /junit|surefire|failsafe|test[-_ ]?(?:results?|reports?)|xunit/i;
/** What they call one that holds logs. */
const LOG_NAME = /log|dump|crash|debug|diagnos|trace|core|output|stderr|stdout|hs_err/i;
/** What they call what the build made. */
const PRODUCT_NAME =
  /^(?:dist|build|bin|binar(?:y|ies)|release|package|bundle|installer|wheels?|docs?|site|image|docker)s?(?:[-_.]|$)|coverage|sbom|screenshot|github-pages/i;
const MAX_NAME = 200;

/** Whether an artifact is called what holds test reports. */
export function isNamedLikeReports(name: string): boolean {
  return REPORT_NAME.test(name.slice(0, MAX_NAME));
}

/** Which artifacts are worth their download, the most promising first, and why the others are left. */
export function artifactsToFetch<One extends Offered>(
  offered: readonly One[],
  limits: { readonly maxBytes: number; readonly maxCount: number },
): { readonly fetch: readonly One[]; readonly leave: readonly { readonly name: string; readonly why: string }[] } {
  const fetch: One[] = [];
  const leave: { name: string; why: string }[] = [];
  for (const one of [...offered].sort((left, right) => rankOf(left.name) - rankOf(right.name))) {
    const why = reasonToLeave(one, limits.maxBytes) ?? (fetch.length < limits.maxCount ? null : `${limits.maxCount} others were fetched`);
    if (why === null) fetch.push(one);
    else leave.push({ name: one.name, why });
  }
  return { fetch, leave: leave.slice(0, 50) };
}

function reasonToLeave({ name, bytes }: Offered, maxBytes: number): string | null {
  if (bytes !== null && bytes > maxBytes) return `it is ${sizeInWords(bytes)}, more than ${sizeInWords(maxBytes)}`;
  const named = namedAs(name);
  if (named?.grade === 'skip') return named.reason;
  return rankOf(name) === 3 ? 'a build output, judging by its name' : null;
}

function rankOf(name: string): number {
  const start = name.slice(0, MAX_NAME);
  if (REPORT_NAME.test(start)) return 0;
  if (namedAs(name)?.grade === 'relevant') return 0;
  if (PRODUCT_NAME.test(start)) return 3;
  return LOG_NAME.test(start) ? 1 : 2;
}
