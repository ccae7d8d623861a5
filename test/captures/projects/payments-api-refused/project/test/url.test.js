import assert from 'node:assert/strict'
import test from 'node:test'

test('amounts are sent in cents', () => assert.equal(Math.round(19.99 * 100), 1999))
