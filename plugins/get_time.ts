/** get_time: what the clock of this computer says. */

import type { Definition, Handler } from "../core/tool.ts";

export const definition: Definition = {
  name: "get_time",
  description:
    "Tells the date, the weekday and the time of this computer, with the time zone and its offset from UTC. Use it when the answer " +
    "depends on today or now, which you cannot know. It takes no input and looks at no file.",
  input_schema: { type: "object", properties: {}, required: [], additionalProperties: false },
  permissions: {},
  strict: true,
};

export const handler: Handler = () => describeTime(new Date());

/** The name of a time zone, or how many minutes it is east of UTC. */
type Zone = string | number;

/** `Monday 2026-11-30, 03:33:52, Europe/Berlin (UTC+01:00)`: fixed English, in the computer's zone unless another one is given. */
export function describeTime(now: Date, zone: Zone = localZone(now)): string {
  const hasName = typeof zone === "string";
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: hasName ? zone : "UTC",
    hourCycle: "h23",
    weekday: "long",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "longOffset",
  });
  const shown = hasName ? now : new Date(now.getTime() + zone * 60_000);
  const part = Object.fromEntries(format.formatToParts(shown).map(({ type, value }) => [type, value]));
  const offset = hasName ? part.timeZoneName?.slice("GMT".length) || "+00:00" : offsetText(zone);
  const date = `${part.weekday} ${part.year}-${part.month}-${part.day}`;
  const where = hasName ? `${zone} (UTC${offset})` : `local time, UTC${offset}`;
  return `${date}, ${part.hour}:${part.minute}:${part.second}, ${where}`;
}

/** The offset alone where TZ is nothing that the runtime has a name for (`TZ=`, `TZ=:/etc/localtime`, `TZ=UTC+3`). */
function localZone(now: Date): Zone {
  return nameOfZone(new Intl.DateTimeFormat("en-US").resolvedOptions().timeZone) ?? -now.getTimezoneOffset();
}

/** What the runtime calls the zone, if that is a name: Deno also says `undefined`, `Etc/Unknown` and `+00:00`. */
export function nameOfZone(name: string | undefined): string | undefined {
  if (name === undefined || !/^[a-z]/i.test(name)) return undefined;
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return name;
  } catch {
    return undefined;
  }
}

function offsetText(minutes: number): string {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? "-" : "+"}${String(hours).padStart(2, "0")}:${String(rest).padStart(2, "0")}`;
}
