const base = process.env.PAYMENTS_URL ?? 'https://payments.example.test'

/** The fee the payment provider charges for an amount in cents. */
export async function feeFor(cents) {
  const response = await fetch(`${base}/v2/fees?amount=${cents}`, { signal: AbortSignal.timeout(5000) })
  if (!response.ok) throw new Error(`payment provider answered ${response.status}`)
  return (await response.json()).fee
}
