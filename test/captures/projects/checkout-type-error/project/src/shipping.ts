import type { Address } from './address.ts';

const daysByCountry = { DE: 2, AT: 3, CH: 5 } as const

export function deliveryDate(address: Address, from: Date): Date {
  const date = new Date(from)
  date.setDate(date.getDate() + daysByCountry[address.country])
  return date
}
