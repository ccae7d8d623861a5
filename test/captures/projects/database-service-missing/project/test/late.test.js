import assert from 'node:assert/strict'
import test from 'node:test'

import { daysLate } from '../src/loans.js'

test('a loan due today is not late', () => assert.equal(daysLate('2024-05-02', '2024-05-02'), 0))
test('counts whole days', () => assert.equal(daysLate('2024-05-02', '2024-05-09'), 7))
