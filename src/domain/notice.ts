import { z } from 'zod';

/** The subject of a notice. The text is made from everything that is known about it. */
export const NoticeAbout = z.discriminatedUnion('type', [
  z.object({ type: z.literal('build'), buildId: z.string() }),
  z.object({ type: z.literal('commit'), repository: z.string(), commit: z.string() }),
  z.object({ type: z.literal('pull-request'), repository: z.string(), pullRequest: z.int() }),
  z.object({ type: z.literal('branch'), repository: z.string(), pipeline: z.string(), branch: z.string() }),
]);
export type NoticeAbout = z.infer<typeof NoticeAbout>;

/** One text in one place outside, kept in step with what is known. */
export interface Notice {
  /** The place, such as `github-comment:shop/api#1204`. */
  readonly key: string;
  readonly repository: string;
  readonly about: NoticeAbout;
  /**
   * The reference of the published notice in the external system; null if nothing is known to be published.
   */
  readonly reference: string | null;
  /** An earlier try at what is to be shown now may have reached the other side. */
  readonly isRetry: boolean;
}
