import { installServices } from './install-services.ts';
import { testWebhookToRecall } from './people.ts';

testWebhookToRecall('server: one api, two workers, PostgreSQL, Redis, MongoDB', installServices);
