export interface Line {
  readonly label: string
  readonly cents: number
}

/** A receipt for a 32 column printer. */
export function renderReceipt(shop: string, lines: readonly Line[]): string {
  const total = lines.reduce((sum, line) => sum + line.cents, 0)
  const body = lines.map((line) => row(line.label, line.cents))
  return [shop.toUpperCase(), '-'.repeat(32), ...body, '-'.repeat(32), row('TOTAL', total)].join('\n')
}

function row(label: string, cents: number): string {
  const amount = (cents / 100).toFixed(2)
  return `${label.slice(0, 22).padEnd(22)}${amount.padStart(10)}`
}
