import { newId } from '../domain/ids.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Clock } from '../ports/clock.ts';
import type { QuestionStore } from '../ports/questions.ts';
import type { ReviewerDesk } from '../ports/reviewer-desk.ts';

export interface ReviewerDeskDeps {
  readonly questions: Pick<QuestionStore, 'ask'>;
  readonly masker: Pick<Masker, 'mask'>;
  readonly clock: Clock;
  /** How long a question waits before the run goes on without an answer, in milliseconds. */
  readonly waitMs: number;
}

const MAX_TITLE = 200;

/** Puts questions into the review queue. What a model words is masked like all that is stored. */
export function createReviewerDesk({ questions, masker, clock, waitMs }: ReviewerDeskDeps): ReviewerDesk {
  return {
    ask: async ({ subject, category, text }) => {
      const now = clock.now();
      const { triageId, build, failures } = subject;
      const asked = await questions.ask(
        {
          id: newId('rev', now),
          triageId,
          buildId: build.id,
          repository: build.repository,
          title: (failures[0]?.message.split('\n', 1)[0] ?? 'a failure').slice(0, MAX_TITLE),
          category,
          question: (await masker.mask(text.toWellFormed().replaceAll('\0', '\ufffd'))).text,
          openedAt: new Date(now).toISOString(),
        },
        waitMs,
      );
      return { id: asked.id, text: asked.question };
    },
  };
}
