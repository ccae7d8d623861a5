const { createCart } = require('../src/cart')

const tea = { name: 'Sencha 100 g', price: 7.9 }
const pot = { name: 'Cast iron pot', price: 48.5 }

describe('cart', () => {
  test('starts empty', () => {
    expect(createCart(7).count()).toBe(0)
  })

  test('adds up articles', () => {
    const cart = createCart(7)
    cart.add(tea, 3)
    cart.add(pot, 1)
    expect(cart.subtotal()).toBe(72.2)
  })

  test('refuses a quantity of zero', () => {
    expect(() => createCart(7).add(tea, 0)).toThrow(RangeError)
  })

  test('takes the coupon off and rounds to the nearest cent', () => {
    const cart = createCart(7)
    cart.add(tea, 1)
    cart.add(pot, 1)
    expect(cart.totalWithCoupon(23)).toBe(43.43)
  })

  test('shows the VAT contained', () => {
    const cart = createCart(10)
    cart.add(pot, 2)
    expect(cart.vat()).toBe(9.7)
  })
})
