const { priceOf } = require('./price-rules')

function book(seats) {
  return { seats, total: seats.reduce((sum, seat) => sum + priceOf(seat), 0) }
}

module.exports = { book }
