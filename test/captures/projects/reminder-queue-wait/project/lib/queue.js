const { EventEmitter } = require('node:events')

/** Sends reminders in batches; a batch leaves when it is full or after `idle` milliseconds plus a little jitter. */
class ReminderQueue extends EventEmitter {
  constructor({ size, idle }) {
    super()
    this.size = size
    this.idle = idle
    this.waiting = []
  }

  push(reminder) {
    this.waiting.push(reminder)
    if (this.waiting.length >= this.size) return this.flush()
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.flush(), this.idle + Math.random() * 200)
  }

  flush() {
    clearTimeout(this.timer)
    const batch = this.waiting.splice(0)
    this.emit('batch', batch)
  }
}

module.exports = { ReminderQueue }
