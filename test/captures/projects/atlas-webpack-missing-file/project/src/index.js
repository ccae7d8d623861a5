import { draw } from './draw.js';
import { legend } from './legend/names.js';

draw(document.querySelector('#map'), legend);
