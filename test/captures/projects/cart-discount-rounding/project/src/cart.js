const { percentOff, roundToCents } = require('./money')

function createCart(vatPercent) {
  const lines = []
  return {
    add(article, quantity) {
      if (!Number.isInteger(quantity) || quantity < 1) throw new RangeError(`quantity must be a positive whole number: ${quantity}`)
      lines.push({ article, quantity })
    },
    count: () => lines.reduce((sum, line) => sum + line.quantity, 0),
    subtotal: () => roundToCents(lines.reduce((sum, line) => sum + line.article.price * line.quantity, 0)),
    totalWithCoupon(percent) {
      return percentOff(this.subtotal(), percent)
    },
    vat() {
      return roundToCents((this.subtotal() * vatPercent) / 100)
    },
  }
}

module.exports = { createCart }
