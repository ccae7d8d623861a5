// Builds the search index of all recipes: every word with the recipes that contain it.
const words = ['basil', 'carrot', 'dill', 'egg', 'fennel', 'garlic', 'honey', 'leek', 'mint', 'oat', 'pepper', 'rice']

function recipe(id) {
  const text = Array.from({ length: 40 }, (_, i) => `${words[(id * 7 + i * 5) % words.length]}${(id * i) % 997}`).join(' ')
  return { id, title: `Recipe ${id}`, text }
}

const index = new Map()
const recipes = []
for (let id = 0; id < 400_000; id++) {
  const entry = recipe(id)
  recipes.push(entry)
  for (const word of entry.text.split(' ')) {
    const found = index.get(word) ?? []
    found.push({ id, title: entry.title })
    index.set(word, found)
  }
  if (id % 5_000 === 0) console.log(`indexed ${id} recipes, ${index.size} words`)
}
console.log(`done: ${index.size} words`)
