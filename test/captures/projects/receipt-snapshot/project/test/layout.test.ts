import { expect, it } from 'vitest'

import { renderReceipt } from '../src/receipt.ts'

it.each(Array.from({ length: 25 }, (_, index) => index + 1))('rules off %i lines', (count) => {
  const lines = Array.from({ length: count }, (_, index) => ({ label: `item ${index}`, cents: 100 }))
  expect(renderReceipt('Kiosk', lines).split('\n')).toHaveLength(count + 4)
})
