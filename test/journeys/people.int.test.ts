import { installEmbedded } from './install-embedded.ts';
import { testWebhookToRecall } from './people.ts';

testWebhookToRecall('embedded', installEmbedded);
