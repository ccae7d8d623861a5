const surcharge = { balcony: 0, stalls: 8, box: 25 }

function priceOf(seat) {
  return 30 + surcharge[seat.area]
}

module.exports = { priceOf }
