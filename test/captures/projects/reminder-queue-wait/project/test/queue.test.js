const assert = require('node:assert/strict')
const { once } = require('node:events')
const { ReminderQueue } = require('../lib/queue')

describe('ReminderQueue', () => {
  describe('when a batch fills up', () => {
    for (const size of [1, 2, 5, 10]) {
      it(`sends ${size} reminder(s) at once`, async () => {
        const queue = new ReminderQueue({ size, idle: 10_000 })
        const sent = once(queue, 'batch')
        for (let i = 0; i < size; i++) queue.push({ to: `member-${i}` })
        assert.equal((await sent)[0].length, size)
      })
    }
  })

  describe('when nobody adds more', () => {
    it('sends what is waiting after a short while', async () => {
      const queue = new ReminderQueue({ size: 10, idle: 50 })
      queue.push({ to: 'member-1' })
      assert.equal((await once(queue, 'batch'))[0].length, 1)
    })

    it('sends the weekly digest within half a second', async () => {
      const queue = new ReminderQueue({ size: 10, idle: 480 })
      queue.push({ to: 'member-1', digest: true })
      const [batch] = await once(queue, 'batch')
      assert.equal(batch[0].digest, true)
    })
  })
})
