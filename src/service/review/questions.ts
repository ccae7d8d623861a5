import { TriageError } from '../../domain/errors.ts';
import type { ReviewerQuestion } from '../../domain/review.ts';
import type { Masker } from '../../log/mask/mask.ts';
import type { JobQueue } from '../../ports/job-queue.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { ShownStores } from '../../stores/stores.ts';

export interface QuestionDeps {
  readonly stores: Pick<ShownStores, 'questions'>;
  readonly masker: Pick<Masker, 'mask'>;
  readonly jobQueue: Pick<JobQueue, 'enqueue'>;
  readonly logger: Logger;
}

const MANY = 200;

/** Questions that wait for anybody, oldest first: what the queue shows beside analyses. */
export async function openQuestions(
  { stores }: Pick<QuestionDeps, 'stores'>,
  filter: Omit<Parameters<ShownStores['questions']['list']>[0], 'state'>,
): Promise<ReviewerQuestion[]> {
  return await stores.questions.list({ ...filter, state: 'waiting' }, { limit: MANY, offset: 0 });
}

/** Throws `not-found`, and `conflict` where it was answered or has expired. What was typed is masked before it is stored. */
export async function answerQuestion(id: string, answer: string, reviewer: string, deps: QuestionDeps): Promise<ReviewerQuestion> {
  const masked = (await deps.masker.mask(answer.toWellFormed().replaceAll('\0', '\ufffd'))).text;
  const answered = await deps.stores.questions.answer(id, masked, reviewer);
  if (answered === null) throw await whyNot(id, deps);
  deps.logger.info({ questionId: id, buildId: answered.question.buildId, reviewer }, 'question answered');
  if (answered.jobId !== null) await enqueue(answered.jobId, deps);
  return answered.question;
}

async function whyNot(id: string, { stores }: QuestionDeps): Promise<TriageError> {
  const question = await stores.questions.find(id);
  if (question === null) return new TriageError('not-found', `There is no question ${id}.`);
  const how =
    question.state === 'answered' ? `was answered by ${question.answeredBy}` : 'has expired; the analysis went on without an answer';
  return new TriageError('conflict', `This question ${how}.`);
}

/** What is not rung for now is found by the sweeper. */
async function enqueue(jobId: string, { jobQueue, logger }: QuestionDeps): Promise<void> {
  try {
    await jobQueue.enqueue(jobId);
  } catch (error) {
    logger.warn({ jobId, error }, 'the job of an answered question could not be queued');
  }
}
