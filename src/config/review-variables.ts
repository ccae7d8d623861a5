import type { Variable } from './variable.ts';

/** What keeps the figures about people and machines honest. */
export const REVIEW_VARIABLES: readonly Variable[] = [
  {
    name: 'FAULTLINE_UNDO_MS',
    path: 'review.undoMs',
    type: 'number',
    meaning: 'How long a decision is kept from being shown outside, in milliseconds: taken back before, it is never seen there.',
  },
  {
    name: 'FAULTLINE_BLIND_EVERY',
    path: 'review.blindEvery',
    type: 'number',
    meaning:
      "One review item in so many hides the machine's verdict until the reviewer has named a category of their own; 0: none. The difference it makes is how much the verdict sways people.",
  },
  {
    name: 'FAULTLINE_AUDIT_EVERY',
    path: 'review.auditEvery',
    type: 'number',
    meaning:
      'One answer in so many that are published without a person comes into the queue all the same, so that their being right can be counted; 0: none. 50 is a fair start.',
  },
];
