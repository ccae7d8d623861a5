const slugify = require('slugify')

exports.permalink = (post) => `/${post.year}/${slugify(post.title, { lower: true })}`
