const { rowLabel } = require('../src/rows')

test.each([[0, 'A'], [1, 'B'], [25, 'Z']])('row %d is %s', (index, label) => {
  expect(rowLabel(index)).toBe(label)
})
