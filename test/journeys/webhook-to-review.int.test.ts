import { installEmbedded } from './install-embedded.ts';
import { testWebhookToReview } from './webhook-to-review.ts';

testWebhookToReview('embedded', installEmbedded);
