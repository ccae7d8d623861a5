import type { Variable } from './variable.ts';

/** What keeps the figures about people and machines honest. */
export const REVIEW_VARIABLES: readonly Variable[] = [
  {
    name: 'FAULTLINE_UNDO_MS',
    path: 'review.undoMs',
    type: 'number',
    meaning: 'Delay before a decision is published, in milliseconds. A decision undone within it is never published.',
  },
  {
    name: 'FAULTLINE_BLIND_EVERY',
    path: 'review.blindEvery',
    type: 'number',
    meaning:
      "One in this many review items hides Faultline's verdict until the reviewer has chosen a category; 0 disables this. It measures how much seeing the verdict sways reviewers.",
  },
  {
    name: 'FAULTLINE_AUDIT_EVERY',
    path: 'review.auditEvery',
    type: 'number',
    meaning:
      'One in this many automatically published answers is also queued for review, to measure their accuracy; 0 disables this. 50 is a good start.',
  },
];
