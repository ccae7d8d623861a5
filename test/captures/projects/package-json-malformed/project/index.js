module.exports = ['kale', 'leek', 'chard']
