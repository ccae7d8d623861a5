import { z } from 'zod';

/** The version of this release. */
export const RELEASE = '0.1.0';

/** The counts of the answers of a period, without recalled ones. */
const Tally = z.object({
  answers: z.int(),
  published: z.int().describe('The number that was published without a person'),
  decided: z.int(),
  right: z.int().describe('The number of decided answers whose category was right'),
});
export type Tally = z.infer<typeof Tally>;

/** A change of something that decides which answers are given or published. */
export const TrustChange = z.object({
  at: z.iso.datetime(),
  kind: z.enum(['release', 'analyst', 'threshold', 'calibration', 'rule']),
  /** The repository. Null for all repositories. */
  repository: z.string().nullable(),
  /** The value before the change. Null if there was none. */
  from: z.string().nullable(),
  /** The value after the change. Null if there is none. */
  to: z.string().nullable(),
  /**
   * The counts of the last answers before the change and of the first after it, up to the next change of its
   * kind.
   */
  before: Tally,
  after: Tally,
});
export type TrustChange = z.infer<typeof TrustChange>;

/** One decided answer, listed so that a person can check what a number counts. */
export const CheckedAnswer = z.object({
  analysisId: z.string(),
  buildId: z.string(),
  repository: z.string(),
  title: z.string(),
  category: z.string(),
  confidence: z.number(),
  right: z.boolean(),
  /**
   * The category according to the person who decided: the same one if they accepted, null if they rejected.
   */
  decidedCategory: z.string().nullable(),
  decidedAt: z.iso.datetime(),
});
export type CheckedAnswer = z.infer<typeof CheckedAnswer>;

/** The performance of this release's rules on failures that were not used for training. */
export const UnseenFigures = z.object({
  name: z.string(),
  cases: z.int(),
  accuracy: z.number(),
  macroF1: z.number(),
  calibrationError: z.number(),
  thresholds: z.array(
    z.object({ threshold: z.number(), published: z.int(), wrong: z.int(), coverage: z.number() }),
  ),
});
export type UnseenFigures = z.infer<typeof UnseenFigures>;

/** The figures that show how far the answers of an installation can be trusted. */
export const Trust = z.object({
  threshold: z.number().describe('From this confidence on, an answer is published without a person'),
  answered: z.int().describe('The number of answers of one year, at most the newest 20,000'),
  decided: z.int(),
  enough: z.boolean().describe('True if enough answers were decided to state an accuracy'),
  thresholds: z.array(
    z.object({
      threshold: z.number(),
      published: z.int(),
      coverage: z.number().describe('Share of `answered`'),
      decided: z.int(),
      right: z.int(),
      low: z
        .number()
        .nullable()
        .describe(
          'Of the share that was right, the lower and upper end of its 95 % interval; ' +
            'null if too few are decided',
        ),
      high: z.number().nullable(),
    }),
  ),
  changes: z.array(TrustChange),
  release: z.object({ version: z.string(), unseen: z.array(UnseenFigures) }),
});
export type Trust = z.infer<typeof Trust>;
