import { type Address, singleLine } from './address.ts';
import { deliveryDate } from './shipping.ts';

export interface Order {
  readonly id: string
  readonly shipTo: Address | undefined
  readonly placedAt: string
}

export function confirmation(order: Order): string {
  const arrival = deliveryDate(order.shipTo, order.placedAt)
  return `Order ${order.id} goes to ${singleLine(order.shipTo)} and arrives on ${arrival.toDateString()}.`
}
