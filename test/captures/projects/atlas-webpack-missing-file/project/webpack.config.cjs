module.exports = { mode: 'production', entry: './src/index.js', stats: 'normal' };
