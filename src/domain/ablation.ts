import { z } from 'zod';

/** Stages of the log's reader that a measurement can leave out. */
export const ReadStage = z.enum(['sections', 'extractors', 'ranking', 'reducer']);
export type ReadStage = z.infer<typeof ReadStage>;

/** Every part of the system that a measurement can leave out: sources of evidence, turns of the loop, stages of the reader. */
export const AblationStage = z.enum([
  'library',
  'knowledge',
  'code-host',
  'history',
  'logs',
  'web',
  'tools',
  'loop',
  'corrections',
  'green',
  ...ReadStage.options,
]);
export type AblationStage = z.infer<typeof AblationStage>;

/** How an answer is come to: the agent's loop, or the fixed sequence that it is measured against. */
export const Design = z.enum(['loop', 'linear']);
export type Design = z.infer<typeof Design>;
