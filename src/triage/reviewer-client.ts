import { newId } from '../domain/ids.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { NoticeStore } from '../ports/notices.ts';
import type { QuestionStore } from '../ports/reviews.ts';
import type { ReviewerClient } from '../ports/toolbox.ts';

export interface ReviewerClientDeps {
  readonly questions: Pick<QuestionStore, 'ask'>;
  /** Told that a build waits for a person. Absent: nobody is. */
  readonly notices?: Pick<NoticeStore, 'changed'>;
  readonly masker: Pick<Masker, 'mask'>;
  readonly clock: Clock;
  /** How long a question waits before the run goes on without an answer, in milliseconds. */
  readonly waitMs: number;
}

const MAX_TITLE = 200;

/** Puts questions into the review queue. What a model words is masked like all that is stored. */
export function createReviewerClient({ questions, notices, masker, clock, waitMs }: ReviewerClientDeps): ReviewerClient {
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
      // Not in one transaction: what is lost with the process in between is said when the build is answered.
      await notices?.changed({ buildId: build.id, delayMs: 0 });
      return { id: asked.id, text: asked.question };
    },
  };
}
