/** How the rows look: one line each, under a head that says what a column is. */

import type { Row, Unit } from "./row.ts";

const WIDTHS = [58, 12, 46, 8, 20];
const DIGITS: Record<Unit, number> = { ms: 1, MB: 1, bytes: 0 };

export const HEAD = [line(["what", "ours", "against", "ratio", "aim"]), line(WIDTHS.map((width) => "-".repeat(width)))];

/** A line of the table. */
export function lineOf(row: Row): string {
  const { ours, unit, against } = row;
  const ratio = against && ours / against.figure;
  return line([
    row.what,
    figure(ours, unit),
    against ? `${figure(against.figure, unit)}  ${against.what}` : "",
    ratio === undefined ? "" : `${ratio.toFixed(ratio < 10 ? 2 : 0)}×`,
    aimOf(row, ratio),
  ]);
}

function aimOf({ aim, ours, unit }: Row, ratio = Infinity): string {
  if (!aim) return "";
  const [wanted, met] = "ratio" in aim
    ? [`${aim.ratio}×`, ratio <= aim.ratio]
    : [figure(aim.most, unit), ours <= aim.most];
  return `≤ ${wanted}  ${met ? "met" : "MISSED"}`;
}

function figure(value: number, unit: Unit): string {
  const digits = value < 10 ? Math.min(2, DIGITS[unit] * 2) : DIGITS[unit];
  return `${value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${unit}`;
}

function line(cells: readonly string[]): string {
  return cells.map((cell, index) => cell.padEnd(WIDTHS[index] ?? 0)).join("  ").trimEnd();
}
