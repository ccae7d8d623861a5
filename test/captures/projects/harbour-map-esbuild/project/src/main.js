import { berths } from './berths.js';

const free = berths.filter((berth) => !berth.taken;
console.log(free.length);
