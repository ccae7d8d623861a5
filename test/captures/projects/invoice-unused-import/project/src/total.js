export function total(invoice) {
  let sum = 0
  for (const line of invoice.lines) sum += line.cents
  console.log(`total of ${invoice.number}: ${sum}`)
  return sum
}
