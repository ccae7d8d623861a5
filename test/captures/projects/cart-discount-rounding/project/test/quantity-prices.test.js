const { percentOff } = require('../src/money')

// One row per article of the autumn catalogue: price, rebate in percent, price after the rebate.
const rows = Array.from({ length: 40 }, (_, index) => [index + 1, (index % 4) * 25, ((index + 1) * (4 - (index % 4))) / 4])

describe.each(rows)('article at %d with %d percent off', (price, percent, expected) => {
  test(`costs ${expected}`, () => {
    expect(percentOff(price, percent)).toBe(expected)
  })
})
