/** Draws the line that is being typed where the cursor is, however wide its characters and the window are. */

import type { Line } from "./line_editor.ts";
import { paint, type Screen } from "./screen.ts";
import { visible } from "../text.ts";
import { clustersOf, widthOf } from "./width.ts";

export interface Layout {
  /** Each one fits in the window with a column to spare, so that no terminal wraps it. */
  rows: string[];
  cursorRow: number;
  /** Columns to the left of the cursor. */
  cursorColumn: number;
}

/**
 * One picture of the Unicode Consortium's list (Technical Standard #51): what joins its parts hides nothing. Anywhere else
 * a joiner is written out, since two texts must not look the same.
 */
const EMOJI = /^\p{RGI_Emoji}$/v;

/** The first row begins with the prompt, the others are set in as far. Hidden characters are written out. */
export function layOut({ text, cursor }: Pick<Line, "text" | "cursor">, prompt: string, columns: number): Layout {
  const room = Math.max(columns - 1, widthOf(prompt) + 8);
  const indent = " ".repeat(widthOf(prompt));
  const rows: string[] = [];
  let row = prompt;
  let used = indent.length;
  let cursorRow = 0;
  let cursorColumn = used;
  let at = 0;

  function nextRow() {
    rows.push(row);
    row = indent;
    used = indent.length;
  }

  for (const cluster of clustersOf(text)) {
    const written = cluster === "\n" ? "" : visible(cluster.replaceAll("\t", "    "));
    const shown = EMOJI.test(cluster) ? cluster : written;
    // What was written out can be long; it is divided like any text.
    const pieces = shown === cluster ? [shown] : clustersOf(shown);
    if (used + widthOf(pieces[0] ?? "") > room) nextRow();
    if (at === cursor) [cursorRow, cursorColumn] = [rows.length, used];
    at += cluster.length;
    if (cluster === "\n") nextRow();
    for (const piece of pieces) {
      if (used + widthOf(piece) > room) nextRow();
      row += piece;
      used += widthOf(piece);
    }
  }
  if (at === cursor) {
    if (used >= room) nextRow();
    [cursorRow, cursorColumn] = [rows.length, used];
  }
  return { rows: [...rows, row], cursorRow, cursorColumn };
}

export interface LineView {
  /** Draws the line in place of what was drawn before. */
  draw(line: Pick<Line, "text" | "cursor">): void;
  /** Leaves the line on the screen and goes to the row below it. */
  finish(line: Pick<Line, "text">): void;
  /** Takes the line off the screen; the cursor stands where it began. */
  erase(): void;
}

/** A view that begins on the screen's current row, which must be empty. The prompt is clean and one row. */
export function createLineView(screen: Screen, prompt: string): LineView {
  let drawn: Layout = { rows: [""], cursorRow: 0, cursorColumn: 0 };

  /** The way back to where the drawing began. A window made narrower since then has wrapped the rows. */
  function toStart(): string {
    const columns = screen.columns();
    const above = drawn.rows.slice(0, drawn.cursorRow).reduce((sum, row) => sum + wrappedRows(row, columns), 0);
    const up = above + wrappedRows(drawn.rows[drawn.cursorRow] ?? "", columns, drawn.cursorColumn) - 1;
    return `\r${up > 0 ? `\x1b[${up}A` : ""}\x1b[J`;
  }

  function show(layout: Layout) {
    const { rows, cursorRow, cursorColumn } = layout;
    const up = rows.length - 1 - cursorRow;
    screen.write(
      toStart() + rows.join("\r\n").replace(prompt, () => paint(screen, "cyan", prompt)) +
        `\r${up > 0 ? `\x1b[${up}A` : ""}${cursorColumn > 0 ? `\x1b[${cursorColumn}C` : ""}`,
    );
    drawn = layout;
  }

  return {
    draw: (line) => show(window(layOut(line, prompt, screen.columns()), screen.rows())),
    finish({ text }) {
      const whole = layOut({ text, cursor: text.length }, prompt, screen.columns());
      show(whole);
      screen.write("\r\n");
      drawn = { rows: [""], cursorRow: 0, cursorColumn: 0 };
    },
    erase() {
      screen.write(toStart());
      drawn = { rows: [""], cursorRow: 0, cursorColumn: 0 };
    },
  };
}

/** The rows around the cursor, where the window has not room for all. */
function window({ rows, cursorRow, cursorColumn }: Layout, height: number): Layout {
  const count = Math.max(1, height - 1);
  const first = Math.min(Math.max(0, cursorRow - count + 1), Math.max(0, rows.length - count));
  return { rows: rows.slice(first, first + count), cursorRow: cursorRow - first, cursorColumn };
}

/** How many rows a terminal makes of the row, to where the character at this column stands; none is divided. */
function wrappedRows(row: string, columns: number, until = Infinity): number {
  let count = 1;
  let used = 0;
  let seen = 0;
  for (const cluster of clustersOf(row)) {
    if (seen > until) break;
    const width = widthOf(cluster);
    seen += width;
    if (used + width > columns) {
      count++;
      used = 0;
    }
    used += width;
  }
  return count;
}
