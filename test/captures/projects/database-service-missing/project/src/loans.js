/** Days a loan is late; negative while there is time. */
export function daysLate(dueOn, today) {
  return Math.round((Date.parse(today) - Date.parse(dueOn)) / 86_400_000)
}

export async function openLoans(client, memberId) {
  const { rows } = await client.query('select book, due_on from loans where member_id = $1 and returned_on is null', [memberId])
  return rows
}
