import { z } from 'zod';
import { Category, Kind } from './category.ts';
import type { Evidence, Finding } from './evidence.ts';

/**
 * Creates the schema of a field in a finding's data. The value is null if the field is absent or has another
 * shape, as in findings that earlier releases stored.
 */
const field = <Schema extends z.ZodType>(schema: Schema) => schema.nullable().default(null).catch(null);
const text = field(z.string());
const integer = field(z.int());

/** The data of a knowledge document or of a person's earlier decision. */
const Retrieved = z.object({
  category: field(Category),
  kind: field(Kind),
  /** The person who confirmed the entry. It counts only in the error library. */
  confirmedBy: text,
  rootCause: text,
  fixRecommendation: text,
  fix: text,
  /** The line of a curated document that resembles a line of the failure. */
  matchedPhrase: text,
  /** The cause according to a team's document, and the words of the document that name the error. */
  cause: text,
  named: text,
  /** True if a decision is similar enough for its cause and fix to be proposed. */
  proposes: field(z.boolean()),
  repository: text,
  sameRepository: field(z.boolean()),
  fingerprint: text,
});

/** A failure of an earlier build. */
const PastFailure = z.object({
  fingerprint: text,
  category: field(Category),
  repository: text,
  pipeline: text,
  number: text,
  branch: text,
  commit: text,
  buildId: text,
  seenAt: text,
});

const LeftUse = z.object({ name: z.string(), path: z.string(), line: z.int() });
/** A line that still uses a name that a commit removed. */
export type LeftUse = z.infer<typeof LeftUse>;

/** A commit or comparison, or its change to a file. */
const Change = z.object({
  path: text,
  commit: text,
  sha: text,
  author: text,
  at: text,
  pullRequest: integer,
  lines: field(z.array(z.tuple([z.number(), z.number()]))),
  files: field(z.array(z.string())),
  fileCount: integer,
  truncated: field(z.boolean()),
  sinceGreen: field(z.boolean()),
  stillUsed: field(z.array(LeftUse)),
  removes: field(z.boolean()),
  formats: field(z.boolean()),
  additions: integer,
  deletions: integer,
});

/** A part of a file. */
const FilePart = z.object({ path: text });

const FoundFile = z.object({
  path: z.string(),
  as: z.string(),
  line: z.int().nullable(),
  by: z.enum(['asked', 'log', 'import', 'step', 'manifest']),
});
/** A file of the repository to which the failure leads, and the words that lead to it. */
export type FoundFile = z.infer<typeof FoundFile>;

/** The data of each tool's findings that programs read. All other data is only for people and models. */
const FINDING_DATA = {
  search_error_library: Retrieved,
  search_knowledge: Retrieved,
  read_failure_history: PastFailure,
  find_similar_failures: PastFailure,
  count_consecutive_failures: z.object({ count: integer, same: integer, firstSameNumber: text }),
  read_blame: Change,
  changed_since_green: Change,
  read_commit_diff: Change,
  read_commit_history: Change,
  read_past_fixes: Change,
  read_file: FilePart,
  read_test_file: FilePart,
  search_code: FilePart,
  search_semantic: FilePart,
  find_files: z.object({ found: field(z.array(FoundFile)), missing: field(z.array(z.string())) }),
  search_web: z.object({ named: text }),
  ask_reviewer: z.object({ questionId: text }),
} as const;

/** A tool whose findings are read by programs. */
export type ReadTool = keyof typeof FINDING_DATA;
export type DataFrom<Name extends ReadTool> = z.infer<(typeof FINDING_DATA)[Name]>;
export type Change = z.infer<typeof Change>;
export type Retrieved = z.infer<typeof Retrieved>;

/** A finding without data. */
export type PlainFinding = Omit<Finding, 'data'>;

/** A finding of a tool. The data that programs read has the type that they expect. */
export type FindingFrom<Name extends string> = Name extends ReadTool
  ? PlainFinding & { readonly data?: Partial<DataFrom<Name>> & Record<string, unknown> }
  : Finding;

/** The evidence of a tool, with its data in the type that programs expect. */
export interface EvidenceFrom<Name extends ReadTool> {
  readonly tool: Name;
  readonly item: Evidence;
  readonly data: DataFrom<Name>;
}

/** Reads the data of a tool's finding. A field that is absent or has another shape is null. */
export function readData<Name extends ReadTool>(tool: Name, { data }: Pick<Finding, 'data'>): DataFrom<Name> {
  return FINDING_DATA[tool].parse(data ?? {}) as DataFrom<Name>;
}

/** Returns the evidence of these tools, in its order. */
export function listEvidenceFrom<Name extends ReadTool>(
  evidence: readonly Evidence[],
  tools: readonly Name[],
): EvidenceFrom<Name>[] {
  return evidence.flatMap((item) => {
    const tool = tools.find((name) => name === item.tool);
    return tool === undefined ? [] : [{ tool, item, data: readData(tool, item) }];
  });
}
