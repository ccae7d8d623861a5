import { installServices } from './install-services.ts';
import { testWebhookToReview } from './webhook-to-review.ts';

testWebhookToReview('server: one api, two workers, PostgreSQL, Redis, MongoDB', installServices);
