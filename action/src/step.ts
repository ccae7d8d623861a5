import { FAILED_AS_ASKED } from './exit-code.ts';
import { runAction } from './run-action.ts';

// What Node 20 lacks of what the parts loaded later use; the bundler compiles syntax, not these.
Promise.withResolvers ??= withResolvers;
Map.groupBy ??= groupBy;
process.exitCode = (await runAction(process.env, (text) => process.stdout.write(text))) === 0 ? 0 : FAILED_AS_ASKED;

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
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
}
