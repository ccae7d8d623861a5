// Functions that the Action uses and Node 20 lacks, also while its modules are loaded. The bundler compiles
// syntax, but adds no functions.
Promise.withResolvers ??= withResolvers;
Map.groupBy ??= groupBy;

function withResolvers<Value>(): PromiseWithResolvers<Value> {
  let settle: Pick<PromiseWithResolvers<Value>, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<Value>((resolve, reject) => {
    settle = { resolve, reject };
  });
  if (settle === undefined) throw new Error('a promise runs its executor at once');
  return { promise, ...settle };
}

function groupBy<Key, Item>(items: Iterable<Item>, keyOf: (item: Item, at: number) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  let at = 0;
  for (const item of items) {
    const key = keyOf(item, at++);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
