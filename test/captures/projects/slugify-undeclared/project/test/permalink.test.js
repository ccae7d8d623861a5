const assert = require('node:assert')
const { permalink } = require('../src/permalink')

it('joins year and title', () => assert.equal(permalink({ year: 2024, title: 'Spring Fair' }), '/2024/spring-fair'))
