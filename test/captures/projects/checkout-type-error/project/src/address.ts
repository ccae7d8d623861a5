export interface Address {
  readonly street: string
  readonly postcode: string
  readonly city: string
  readonly country: 'DE' | 'AT' | 'CH'
  readonly instructions?: string
}

export function singleLine(address: Address): string {
  return `${address.street}, ${address.postcode} ${address.city}, ${address.country}`
}
