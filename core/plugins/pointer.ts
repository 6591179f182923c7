/** JSON pointers: the place of a part within a schema, or of a value within an input. */

/** The steps of a pointer, percent-encoded or not: `#/a~1b/50%25` → `a/b`, `50%`. */
export function stepsOf(pointer: string): string[] {
  return pointer.split("/").slice(1).map((step) => decoded(step).replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** What lies at these steps; undefined where there is nothing. */
export function valueAt(value: unknown, steps: readonly string[]): unknown {
  let found = value;
  for (const step of steps) found = child(found, step);
  return found;
}

/** The part of a schema at these steps; a step `$ref` goes on where the reference leads. */
export function schemaAt(root: unknown, steps: readonly string[]): unknown {
  let found = root;
  for (const step of steps) {
    found = child(found, step);
    if (step === "$ref" && typeof found === "string") found = referred(found, root);
  }
  return found;
}

/** Where a `$ref` leads: within the schema itself, or nowhere. Nothing is ever fetched. */
export function referred(reference: unknown, root: unknown): unknown {
  if (typeof reference !== "string" || !/^#(\/|$)/.test(reference)) return undefined;
  return valueAt(root, stepsOf(reference));
}

function child(value: unknown, step: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
  return (value as { [step: string]: unknown })[step];
}

/** An author's own `$ref` may hold a percent sign that encodes nothing. */
function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
