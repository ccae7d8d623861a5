import { z } from 'zod';

/**
 * The categories of failures. A category says who has to act and where to look first. It depends on the cause
 * that the failing step supports, not on the stage in which the failure appears.
 */
export const CATEGORIES = [
  'CODE_ERROR',
  'INFRA_ERROR',
  'CONFIG_ERROR',
  'DEPENDENCY_ERROR',
  'TEST_FAILURE',
] as const;
export const Category = z.enum(CATEGORIES);
export type Category = z.infer<typeof Category>;

/** One probability per category. They add up to 1. */
const Probability = z.number().min(0).max(1);
export const CategoryProbabilities = z.object(mapCategories(() => Probability));
export type CategoryProbabilities = z.infer<typeof CategoryProbabilities>;

/** Creates a record with one value for each category. */
export function mapCategories<Value>(of: (category: Category) => Value): Record<Category, Value> {
  return {
    CODE_ERROR: of('CODE_ERROR'),
    INFRA_ERROR: of('INFRA_ERROR'),
    CONFIG_ERROR: of('CONFIG_ERROR'),
    DEPENDENCY_ERROR: of('DEPENDENCY_ERROR'),
    TEST_FAILURE: of('TEST_FAILURE'),
  };
}

/** The groups of kinds that may pass without a change. Reruns are estimated for each group. */
export const RERUN_GROUPS = [
  'connection or service',
  'runner lost',
  'time limit',
  'timing of a test',
  'machine full',
] as const;
export type RerunGroup = (typeof RERUN_GROUPS)[number];

/**
 * A property of each failure of a kind:
 * - `stops-the-rest`: stops everything after it if it ends a step, and every test that needs what is missing
 * - `gate`: the finding of a gate, which may be about dependencies too
 * - `files-of-others`: files of others may be to blame
 * - `fixed-unseen`: may be fixed where no commit shows it: a secret, a service, a package
 * - `clear`: proves that a machine or service is to blame; a change may well run out of time or memory
 * - `name-missed`: a name is missing, which another version of the runtime may lack
 * - `in-test`: described by the result of the test
 * - `thrown`: described by the exception
 */
type KindTrait =
  | 'stops-the-rest'
  | 'gate'
  | 'files-of-others'
  | 'fixed-unseen'
  | 'clear'
  | 'name-missed'
  | 'in-test'
  | 'thrown';

/** A kind of failure, which refines the category for people and for knowledge documents. */
interface KindRow {
  /** The category to which it usually belongs. */
  readonly category: Category;
  /** The display name. */
  readonly label: string;
  /**
   * The group if the kind may pass without a change, or `source` for a finding in files, which fails each
   * time.
   */
  readonly group: RerunGroup | 'source' | null;
  readonly traits: readonly KindTrait[];
}

/**
 * The kinds of failures, with everything that the code needs to know about a kind except its sentences
 * (`judge/kinds.ts`).
 */
const KIND_ROWS = {
  compile_error: {
    category: 'CODE_ERROR',
    label: 'compile error',
    group: 'source',
    traits: ['stops-the-rest', 'name-missed'],
  },
  type_error: { category: 'CODE_ERROR', label: 'type error', group: 'source', traits: ['name-missed'] },
  null_reference: {
    category: 'CODE_ERROR',
    label: 'null reference',
    group: null,
    traits: ['name-missed', 'thrown'],
  },
  crash: { category: 'CODE_ERROR', label: 'crash', group: null, traits: ['name-missed', 'thrown'] },
  link_error: {
    category: 'CODE_ERROR',
    label: 'link error',
    group: 'source',
    traits: ['stops-the-rest', 'name-missed'],
  },
  lint_failure: { category: 'CODE_ERROR', label: 'lint failure', group: 'source', traits: ['gate'] },
  formatting_failure: {
    category: 'CODE_ERROR',
    label: 'formatting failure',
    group: 'source',
    traits: ['gate'],
  },
  assertion: { category: 'TEST_FAILURE', label: 'wrong value', group: null, traits: ['in-test'] },
  snapshot: { category: 'TEST_FAILURE', label: 'changed snapshot', group: null, traits: ['in-test'] },
  flaky_timing: {
    category: 'TEST_FAILURE',
    label: 'flaky timing',
    group: 'timing of a test',
    traits: ['in-test'],
  },
  threshold: { category: 'TEST_FAILURE', label: 'missed threshold', group: null, traits: [] },
  timeout: { category: 'INFRA_ERROR', label: 'time limit', group: 'time limit', traits: [] },
  out_of_memory: {
    category: 'INFRA_ERROR',
    label: 'out of memory',
    group: 'machine full',
    traits: ['stops-the-rest'],
  },
  disk_full: {
    category: 'INFRA_ERROR',
    label: 'disk full',
    group: 'machine full',
    traits: ['stops-the-rest', 'clear'],
  },
  descriptor_limit: {
    category: 'INFRA_ERROR',
    label: 'descriptor limit',
    group: 'machine full',
    traits: ['stops-the-rest'],
  },
  network: {
    category: 'INFRA_ERROR',
    label: 'no connection',
    group: 'connection or service',
    traits: ['stops-the-rest', 'clear'],
  },
  service_unavailable: {
    category: 'INFRA_ERROR',
    label: 'service unavailable',
    group: 'connection or service',
    traits: ['stops-the-rest', 'clear'],
  },
  runner_lost: {
    category: 'INFRA_ERROR',
    label: 'runner lost',
    group: 'runner lost',
    traits: ['stops-the-rest', 'clear'],
  },
  rate_limited: {
    category: 'INFRA_ERROR',
    label: 'rate limited',
    group: 'connection or service',
    traits: ['stops-the-rest', 'clear'],
  },
  permission_or_secret: {
    category: 'CONFIG_ERROR',
    label: 'permission or secret',
    group: null,
    traits: ['stops-the-rest', 'fixed-unseen'],
  },
  workflow_config: {
    category: 'CONFIG_ERROR',
    label: 'workflow file',
    group: null,
    traits: ['stops-the-rest'],
  },
  environment: { category: 'CONFIG_ERROR', label: 'environment', group: null, traits: ['stops-the-rest'] },
  missing_file: {
    category: 'CONFIG_ERROR',
    label: 'missing file',
    group: null,
    traits: ['stops-the-rest', 'files-of-others'],
  },
  process_gate: { category: 'CONFIG_ERROR', label: 'process gate', group: null, traits: ['fixed-unseen'] },
  upstream_job: { category: 'CONFIG_ERROR', label: 'upstream job', group: null, traits: ['fixed-unseen'] },
  missing_module: {
    category: 'DEPENDENCY_ERROR',
    label: 'missing module',
    group: null,
    traits: ['stops-the-rest', 'files-of-others', 'name-missed'],
  },
  version_conflict: {
    category: 'DEPENDENCY_ERROR',
    label: 'version conflict',
    group: 'source',
    traits: ['stops-the-rest', 'files-of-others', 'name-missed'],
  },
  dependency_install: {
    category: 'DEPENDENCY_ERROR',
    label: 'dependency install',
    group: null,
    traits: ['stops-the-rest', 'fixed-unseen'],
  },
  vulnerability: { category: 'DEPENDENCY_ERROR', label: 'vulnerability', group: null, traits: [] },
  docker_build: {
    category: 'CONFIG_ERROR',
    label: 'docker build',
    group: null,
    traits: ['stops-the-rest', 'fixed-unseen'],
  },
  unknown: { category: 'CODE_ERROR', label: 'unknown kind', group: null, traits: ['gate', 'fixed-unseen'] },
} as const satisfies Record<string, KindRow>;

export type Kind = keyof typeof KIND_ROWS;
export const KINDS: readonly Kind[] = Object.keys(KIND_ROWS).filter(isKind);
export const Kind = z.enum(KINDS);

/** Returns the row of a kind. */
export function getKindRow(kind: Kind): KindRow {
  return KIND_ROWS[kind];
}

/** Returns true if a kind has a trait. */
export function hasTrait(kind: Kind, trait: KindTrait): boolean {
  return getKindRow(kind).traits.includes(trait);
}

/**
 * Returns true if failures of a kind come and go without a change. A full machine is not such a kind, because
 * it may stay full.
 */
export function isUnstable(kind: Kind): boolean {
  return getKindRow(kind).group !== 'machine full' && hasRerunGroup(kind);
}

/** Returns true if a failure of a kind may pass without a change of files. */
export function hasRerunGroup(kind: Kind): boolean {
  const { group } = getKindRow(kind);
  return group !== null && group !== 'source';
}

function isKind(name: string): name is Kind {
  return Object.hasOwn(KIND_ROWS, name);
}
