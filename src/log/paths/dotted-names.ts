const JVM_ENDINGS = ['java', 'kt', 'scala', 'groovy'];
/** Endings of files, so that `tax.test.ts` or `setup.cfg` is no dotted name. */
const FILE_ENDING =
  /\.(?:[cm]?[jt]sx?|vue|svelte|py|pyi|rb|go|rs|php|java|kts?|scala|groovy|cs|fs|vb|c|cc|cpp|cxx|h|hh|hpp|m|mm|swift|dart|exs?|erl|hs|ml|clj|pl|pm|lua|r|jl|sh|bash|sql|ya?ml|json|toml|xml|html?|css|scss|md|txt|cfg|ini|lock|gradle|properties|tf|proto|bzl|mk)$/i;

/**
 * Source files that a class or module stands for, most likely first: `com.shop.Cart$Line.total` → `com/shop/Cart.java` and its
 * siblings of other JVM languages, `shop.cart.Total` → `shop/cart.py`, Go's `github.com/shop/api/cart.Total` → the folder `cart`'s
 * files are not named by it, so nothing. Empty for everything that is no dotted name.
 */
export function sourcePathsOf(name: string): string[] {
  const dotted = name.replace(/\$.{0,300}$/s, '');
  if (dotted.includes('/') || FILE_ENDING.test(dotted) || !/^[A-Za-z_]\w{0,100}(?:\.[A-Za-z_]\w{0,100}){1,20}$/.test(dotted)) return [];
  const parts = dotted.split('.');
  const classAt = parts.findIndex((part) => /^[A-Z]/.test(part));
  if (classAt < 0) return modulePaths(parts);
  const jvm = parts.slice(0, classAt + 1).join('/');
  const module = classAt === 0 ? [] : modulePaths(parts.slice(0, classAt), true);
  return [...JVM_ENDINGS.map((ending) => `${jvm}.${ending}`), ...module];
}

/** A module, or a function in a module; a package's own file last. */
function modulePaths(parts: readonly string[], whole = false): string[] {
  const module = parts.join('/');
  const outer = parts.length > 2 && !whole ? [`${parts.slice(0, -1).join('/')}.py`] : [];
  return [`${module}.py`, ...outer, `${module}/__init__.py`];
}
