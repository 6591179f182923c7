/** What changes between two texts, as a unified diff. */

/** How long two texts are compared, in milliseconds. */
const LIMIT_MS = 1000;

/**
 * A unified diff with three lines around each change. `before` is undefined where there is no file yet. Two texts with so little in
 * common that they cannot be compared in a second come as one change, from the first line to the last.
 */
export async function unifiedDiff(path: string, before: string | undefined, after: string): Promise<string> {
  const { FILE_HEADERS_ONLY, formatPatch, structuredPatch } = await import("diff");
  const names = [before === undefined ? "/dev/null" : path, path] as const;
  const compared = structuredPatch(...names, before ?? "", after, undefined, undefined, { timeout: LIMIT_MS });
  if (compared !== undefined) return formatPatch(compared, FILE_HEADERS_ONLY);
  const removed = structuredPatch(...names, before ?? "", "");
  const added = structuredPatch(...names, "", after);
  const [out, put] = [removed.hunks[0], added.hunks[0]];
  const lines = [...out?.lines ?? [], ...put?.lines ?? []];
  const counts = { oldStart: 1, oldLines: out?.oldLines ?? 0, newStart: 1, newLines: put?.newLines ?? 0 };
  return formatPatch({ ...removed, hunks: [{ ...counts, lines }] }, FILE_HEADERS_ONLY);
}
