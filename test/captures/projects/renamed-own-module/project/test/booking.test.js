const { book } = require('../src/booking')

test('adds up the seats of a booking', () => {
  expect(book([{ area: 'stalls' }, { area: 'box' }]).total).toBe(93)
})
