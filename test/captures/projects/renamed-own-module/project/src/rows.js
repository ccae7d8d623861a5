function rowLabel(index) {
  return String.fromCharCode(65 + index)
}

module.exports = { rowLabel }
