import { installEmbedded } from './install-embedded.ts';
import { webhookToRecall } from './people.ts';

webhookToRecall('embedded', installEmbedded);
