import { startAsk } from './ask.js';
import { startCombos } from './combo.js';
import { startPages } from './core.js';
import { startKeys } from './keys.js';
import { startLive } from './live.js';
import { startLog } from './log.js';
import { startReview } from './review.js';

startReview();
startCombos();
startLog();
startLive();
startAsk();
startKeys();
startPages();
