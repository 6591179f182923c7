/** How deep a value of JSON is nested: past a limit every walk through it, from a check to `JSON.stringify`, may end in a full stack. */

/** Lists and objects within each other. No tool needs a tenth of it; the stacks of both runtimes hold many times as many. */
export const NESTING_LIMIT = 500;

/** Whether more than `NESTING_LIMIT` lists and objects are within each other. Takes no stack itself. */
export function isTooDeep(value: unknown): boolean {
  let level = [value].filter(isNested);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > NESTING_LIMIT) return true;
    level = level.flatMap((item) => Object.values(item).filter(isNested));
  }
  return false;
}

/** The value with what is nested too deep left out, but for one level more, so that it is still seen to be too deep. */
export function cutTooDeep(value: unknown): unknown {
  return isTooDeep(value) ? cut(value, 1) : value;
}

function cut(value: unknown, depth: number): unknown {
  if (!isNested(value)) return value;
  const isLast = depth > NESTING_LIMIT;
  if (Array.isArray(value)) return isLast ? [] : value.map((item) => cut(item, depth + 1));
  return isLast ? {} : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cut(item, depth + 1)]));
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
