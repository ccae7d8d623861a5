/** A class of the JVM as traces and test reports name it. */
export interface JvmClass {
  /** Segments of its package: ["org", "apache", "commons", "csv"]; empty where it has none or the log leaves it out. */
  readonly packages: readonly string[];
  /** The outermost class: "CSVPrinter" of "CSVPrinter$Row". */
  readonly name: string;
}

/** The class of a dotted name with or without a method behind it; null where no segment looks like a class. */
export function jvmClassOf(dotted: string): JvmClass | null {
  if (!/^[\w$.<>-]{1,400}$/.test(dotted)) return null;
  const segments = dotted.split('.');
  const at = segments.findIndex((segment) => /^[A-Z_$]/.test(segment));
  const name = segments[at]?.split('$')[0];
  if (name === undefined || name === '') return null;
  const packages = segments.slice(0, at);
  return packages.every((one) => /^[a-z][\w]{0,80}$/.test(one)) ? { packages, name } : null;
}

/**
 * A source file with the folders of its package, as Java and Groovy demand them. Kotlin and Scala may leave folders out, so that only
 * the file's own name is certain there.
 */
export function sourcePathOf(type: JvmClass, file: string): string {
  return /\.(?:java|groovy)$/.test(file) ? [...type.packages, file].join('/') : file;
}

/** Whether a class is a test or helps tests, by a word "Test" in its name or an integration test's ending. `TypeSpec` is none in Java. */
export function isTestClass(name: string): boolean {
  return /(?:^|[a-z0-9_])(?:Tests?|TestNG)(?=$|[A-Z0-9_$])|[a-z0-9](?:IT|ITCase)$/.test(name);
}

/** How many segments two packages share from their root. */
export function sharedSegments(one: readonly string[], other: readonly string[]): number {
  const different = one.findIndex((segment, at) => segment !== other[at]);
  return different === -1 ? one.length : different;
}
