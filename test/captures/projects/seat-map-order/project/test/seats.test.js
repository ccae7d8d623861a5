import test from 'ava';
import { sorted } from '../seats.js';

test('rows come first', (t) => {
  t.deepEqual(sorted(['B1', 'A1']), ['A1', 'B1']);
});

test('ten comes after two', (t) => {
  t.deepEqual(sorted(['A10', 'A2']), ['A2', 'A10']);
});

test.failing('rows after Z', (t) => {
  t.deepEqual(sorted(['AA1', 'Z1']), ['Z1', 'AA1']);
});
