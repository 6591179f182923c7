// deno-lint-ignore-file no-control-regex -- control characters are what this is about
/** A terminal that understands what tenon writes, and nothing else: it fails on any other sequence. */

import type { Screen } from "../../core/terminal/screen.ts";
import { clustersOf, widthOf } from "../../core/terminal/width.ts";

interface Row {
  line: number;
  from: number;
  to: number;
}

export interface Emulator extends Screen {
  /** The rows as they stand on the window, trailing space cut. */
  shown(): string[];
  /** Row and column of the cursor. */
  cursor(): [row: number, column: number];
  /** Changes the width; lines that no longer fit are wrapped, as most terminals do. */
  resize(columns: number): void;
}

export function emulator(columns: number, height = 1000): Emulator {
  const lines: string[][] = [[]]; // lines as they were written, one cluster a cell
  let line = 0;
  let cell = 0;

  function rows(): Row[] {
    return lines.flatMap((cells, index) => {
      const wrapped: Row[] = [];
      let from = 0;
      let used = 0;
      for (let at = 0; at < cells.length; at++) {
        const width = widthOf(cells[at] ?? "");
        if (used + width > columns) {
          wrapped.push({ line: index, from, to: at });
          [from, used] = [at, 0];
        }
        used += width;
      }
      return [...wrapped, { line: index, from, to: cells.length }];
    });
  }

  const textOf = (row: Row, to = row.to) => (lines[row.line] ?? []).slice(row.from, to).join("");
  const rowOfCursor = () => rows().findLastIndex((row) => row.line === line && row.from <= cell);

  function moveTo(index: number, column: number) {
    const row = rows()[Math.max(0, index)];
    if (!row) throw new Error(`no row ${index}`);
    line = row.line;
    cell = row.from;
    while (cell < row.to && widthOf(textOf(row, cell)) < column) cell++;
    if (widthOf(textOf(row, cell)) !== column) throw new Error(`no column ${column} in ${JSON.stringify(textOf(row))}`);
  }

  function obey(sequence: string) {
    const row = rows()[rowOfCursor()] ?? { line: 0, from: 0, to: 0 };
    const column = widthOf(textOf(row, cell));
    const count = Number(/\d+/.exec(sequence)?.[0] ?? 1);
    if (sequence === "\r") cell = row.from;
    else if (sequence === "\n") {
      if (rowOfCursor() === rows().length - 1) lines.push([]);
      if (column !== 0) throw new Error("a line feed without a carriage return");
      moveTo(rowOfCursor() + 1, 0);
    } else if (sequence === "\x1b[J") {
      lines.length = line + 1;
      lines[line]?.splice(cell);
    } else if (sequence.endsWith("A")) moveTo(rowOfCursor() - count, column);
    else if (sequence.endsWith("C")) moveTo(rowOfCursor(), column + count);
    else if (!sequence.endsWith("m")) throw new Error(`unknown ${JSON.stringify(sequence)}`);
  }

  return {
    tty: true,
    colour: true,
    redraws: true,
    columns: () => columns,
    rows: () => height,
    flushed: () => Promise.resolve(),
    write(text) {
      for (const piece of text.match(/\x1b\[\d*[A-Za-z]|\r|\n|[^\r\n\x1b]+|\x1b/g) ?? []) {
        if (piece < " ") {
          obey(piece);
          continue;
        }
        const cells = lines[line] ?? [];
        if (cell !== cells.length) throw new Error(`${JSON.stringify(piece)} is written over something`);
        cells.push(...clustersOf(piece));
        cell = cells.length;
      }
    },
    shown: () => rows().map((row) => textOf(row).trimEnd()),
    cursor: () => [rowOfCursor(), widthOf(textOf(rows()[rowOfCursor()] ?? { line, from: 0, to: 0 }, cell))],
    resize(newColumns) {
      columns = newColumns;
    },
  };
}
