/** What changes between two texts, as a unified diff. */

/** How long a difference is looked for, in milliseconds. */
const LIMIT_MS = 2000;

/**
 * A unified diff with three lines around each change. `before` is undefined where there is no file yet. Two texts that have too little in
 * common to be compared in two seconds come as one change.
 */
export async function unifiedDiff(path: string, before: string | undefined, after: string): Promise<string> {
  const { createTwoFilesPatch } = await import("diff");
  const old = before === undefined ? "/dev/null" : path;
  const patch = createTwoFilesPatch(old, path, before ?? "", after, undefined, undefined, { timeout: LIMIT_MS });
  return patch ?? `${createTwoFilesPatch(old, path, before ?? "", "")}${createTwoFilesPatch(old, path, "", after)}`;
}
