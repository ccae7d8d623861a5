import { installServices } from './install-services.ts';
import { webhookToRecall } from './people.ts';

webhookToRecall('server: one api, two workers, PostgreSQL, Redis, MongoDB', installServices);
