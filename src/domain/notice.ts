import { z } from 'zod';

/** The subject of a notice. Its text is created from everything that is known about the subject. */
export const NoticeAbout = z.discriminatedUnion('type', [
  z.object({ type: z.literal('build'), buildId: z.string() }),
  z.object({ type: z.literal('commit'), repository: z.string(), commit: z.string() }),
  z.object({ type: z.literal('pull-request'), repository: z.string(), pullRequest: z.int() }),
  z.object({ type: z.literal('branch'), repository: z.string(), pipeline: z.string(), branch: z.string() }),
]);
export type NoticeAbout = z.infer<typeof NoticeAbout>;
