/** A row of the table: two figures side by side, each a median, taken in turns so that a busy machine hits both. */

/** What a figure counts. */
export type Unit = "ms" | "MB" | "bytes";

export interface Row {
  what: string;
  ours: number;
  unit: Unit;
  /** What it is held against, and its figure. */
  against?: { what: string; figure: number };
  /** The most that is wanted: times the yardstick, or in the row's own unit. */
  aim?: { ratio: number } | { most: number };
}

/** A group of rows: they are shown as they come. */
export type Rows = AsyncGenerator<Row, void>;

/** Takes one figure. */
export type Take = () => number | Promise<number>;

export interface Comparison extends Omit<Row, "ours" | "against"> {
  ours: Take;
  against: { what: string; figure: Take };
  /** How often each is taken, at most: and only once when that is slow. */
  times: number;
}

/** After so long no further round begins: the whole table has to be there in minutes, on a slow machine too. */
const BUDGET_MS = 6_000;

/** Takes both figures in turns, after one round that does not count, and keeps the medians. */
export async function compare({ ours, against, times, ...row }: Comparison): Promise<Row> {
  const taken = { ours: [] as number[], against: [] as number[] };
  const end = performance.now() + BUDGET_MS;
  for (let round = 0; round <= times; round++) {
    if (round > 1 && performance.now() > end) break;
    const figures = [await ours(), await against.figure()] as const;
    if (round === 0) continue;
    taken.ours.push(figures[0]);
    taken.against.push(figures[1]);
  }
  return { ...row, ours: median(taken.ours), against: { what: against.what, figure: median(taken.against) } };
}

/** The middle one; of an even number the mean of the two in the middle. */
export function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  if (low === undefined || high === undefined) throw new Error("a median of nothing");
  return (low + high) / 2;
}

/** How many milliseconds this takes. */
export async function timeOf(run: () => unknown): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}
