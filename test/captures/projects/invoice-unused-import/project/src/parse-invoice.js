import { readFile } from 'node:fs/promises'

const linePattern = /^(?<position>\d+)\s+(?<text>.+?)\s+(?<cents>\d+)$/

export function parseInvoice(text) {
  const [header, ...rows] = text.trim().split('\n')
  const [number, issued] = header.split(' ')
  const lines = rows.map((row) => linePattern.exec(row)?.groups).filter((groups) => groups != undefined)
  return { number, issued, lines: lines.map(({ text, cents }) => ({ text, cents: Number(cents) })) }
}
