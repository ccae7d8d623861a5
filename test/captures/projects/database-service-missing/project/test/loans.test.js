import assert from 'node:assert/strict'
import test, { before } from 'node:test'
import pg from 'pg'

import { openLoans } from '../src/loans.js'

const client = new pg.Client({ connectionString: process.env.DATABASE_URL })

before(async () => {
  await client.connect()
  await client.query('create temporary table loans (member_id int, book text, due_on date, returned_on date)')
})

test('lists what a member has not returned', async () => {
  await client.query("insert into loans values (1, 'Middlemarch', '2024-05-02', null)")
  assert.equal((await openLoans(client, 1)).length, 1)
})
