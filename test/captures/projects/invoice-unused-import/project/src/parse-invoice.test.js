import assert from 'node:assert/strict'
import test from 'node:test'

import { parseInvoice } from './parse-invoice.js'
import { total } from './total.js'

const text = '2024-118 2024-03-01\n1 Consulting, two days 180000\n2 Travel 12350\n\n'

test('reads number and date', () => {
  const invoice = parseInvoice(text)
  assert.equal(invoice.number, '2024-118')
  assert.equal(invoice.issued, '2024-03-01')
})

test('adds up the lines', () => {
  assert.equal(total(parseInvoice(text)), 192350)
})
