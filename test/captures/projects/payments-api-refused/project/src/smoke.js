import { feeFor } from './payments.js'

for (const cents of [100, 2500]) {
  console.log(`asking the payment provider for the fee of ${cents}`)
  console.log(`fee: ${await feeFor(cents)}`)
}
