import { installEmbedded } from './install-embedded.ts';
import { webhookToReview } from './webhook-to-review.ts';

webhookToReview('embedded', installEmbedded);
