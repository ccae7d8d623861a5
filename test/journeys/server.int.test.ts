import { installServices } from './install-services.ts';
import { webhookToReview } from './webhook-to-review.ts';

webhookToReview('server: one api, two workers, PostgreSQL, Redis, MongoDB', installServices);
