/** Cache marks: which are allowed. */

import { must } from "./api_refusal.ts";
import type { Request } from "./api_shape.ts";

const MAX_MARKS = 4;

interface Markable {
  path: string;
  ttl: "5m" | "1h" | undefined;
  isEmptyText: boolean;
}

/** Refuses more than four marks, a mark on an empty text, and one for an hour behind one for five minutes. */
export function checkMarks(request: Request): void {
  const marks = placesOf(request).filter((place) => place.ttl);
  const found = marks.length + (request.cache_control ? 1 : 0);
  must(found <= MAX_MARKS, `A maximum of ${MAX_MARKS} blocks with cache_control may be provided. Found ${found}.`);
  let isShort = false;
  for (const { path, ttl, isEmptyText } of marks) {
    must(!isEmptyText, `${path}: cache_control cannot be set for empty text blocks`);
    must(
      !(isShort && ttl === "1h"),
      `${path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. ` +
        "Note that blocks are processed in the following order: tools, system, messages.",
    );
    isShort ||= ttl === "5m";
  }
  const own = request.cache_control ? request.cache_control.ttl ?? "5m" : undefined;
  const last = placesOf(request).at(-1)?.ttl;
  must(!own || !last || own === last, `cache_control: Top-level ttl='${own}' but the last block has ttl='${last}'`);
}

/** Everything that can carry a mark, in the order of the prefix: tools, system, messages. */
function placesOf({ tools = [], system = [], messages }: Request): Markable[] {
  const places = tools.map((tool, at) => placeOf(`tools.${at}`, tool));
  if (typeof system !== "string") system.forEach((block, at) => places.push(placeOf(`system.${at}`, block)));
  messages.forEach(({ content }, index) => {
    if (typeof content === "string") return;
    content.forEach((block, at) => {
      const path = `messages.${index}.content.${at}`;
      // What is inside a result comes before the result's own mark.
      if (block.type === "tool_result" && typeof block.content === "object") {
        block.content.forEach((part, inner) => {
          if (part.cache_control) places.push(placeOf(`${path}.content.${inner}`, part));
        });
      }
      places.push(placeOf(path, block));
    });
  });
  return places;
}

function placeOf(path: string, block: object): Markable {
  const mark = "cache_control" in block ? block.cache_control as Request["cache_control"] : undefined;
  return { path, ttl: mark ? mark.ttl ?? "5m" : undefined, isEmptyText: "text" in block && block.text === "" };
}
