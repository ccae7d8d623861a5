import { describe, expect, it } from 'vitest'

import { renderReceipt } from '../src/receipt.ts'

describe('renderReceipt', () => {
  it('prints the shop in capitals', () => {
    expect(renderReceipt('Corner bakery', []).split('\n')[0]).toBe('CORNER BAKERY')
  })

  it('keeps every line within the paper', () => {
    const text = renderReceipt('Corner bakery', [{ label: 'Sourdough bread with walnuts, large', cents: 640 }])
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(32)
  })

  it('prints a whole receipt', () => {
    const lines = [
      { label: 'Rye bread', cents: 480 },
      { label: 'Cinnamon roll', cents: 290 },
      { label: 'Coffee', cents: 310 },
    ]
    expect(renderReceipt('Corner bakery', lines)).toMatchSnapshot()
  })
})
