import { z } from 'zod';
import { SourceKind } from './build.ts';

/** How much a file of a build promises, before it is read deeply. */
export const FileGrade = z.enum(['relevant', 'maybe', 'skip']);
export type FileGrade = z.infer<typeof FileGrade>;

/** One log, report or artifact of a build, as the first look found it. */
export const SurveyedFile = z.object({
  name: z.string(),
  kind: SourceKind,
  /** For people: "JVM crash report", "a PNG image". */
  what: z.string(),
  grade: FileGrade,
  /** Why it has this grade; for people. */
  reason: z.string(),
  /** Its most telling lines, shortened. */
  preview: z.string(),
  lines: z.int(),
  bytes: z.int(),
  /** When it was read: as one of the build's logs and reports, for its grade, or because another file refers to it; null: it was not. */
  read: z.enum(['own', 'relevant', 'referred']).nullable(),
  /** The line that refers to it, where one does. */
  referredBy: z.object({ source: z.string(), line: z.int().min(1) }).optional(),
});
export type SurveyedFile = z.infer<typeof SurveyedFile>;

/** What was made of the files of a build: the most telling first. */
export const Survey = z.object({
  files: z.array(SurveyedFile),
  /** Files that are not listed, since there are too many. */
  unlisted: z.int(),
  /** Files that a text refers to and that the build did not bring. */
  missing: z.array(z.object({ path: z.string(), source: z.string(), line: z.int().min(1) })),
});
export type Survey = z.infer<typeof Survey>;
