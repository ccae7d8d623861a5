function roundToCents(amount) {
  return Math.round((amount + Number.EPSILON) * 100) / 100
}

function percentOff(amount, percent) {
  return roundToCents(amount * (1 - percent / 100))
}

module.exports = { percentOff, roundToCents }
