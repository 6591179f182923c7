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

/** `Monday 2026-11-30, 03:33:52, Europe/Berlin (UTC+01:00)`: fixed English, in the computer's zone unless another one is named. */
export function describeTime(
  now: Date,
  timeZone = new Intl.DateTimeFormat("en-US").resolvedOptions().timeZone,
): string {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
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
  const part = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, value]));
  const offset = part.timeZoneName === "GMT" ? "+00:00" : part.timeZoneName?.replace("GMT", "");
  const date = `${part.weekday} ${part.year}-${part.month}-${part.day}`;
  return `${date}, ${part.hour}:${part.minute}:${part.second}, ${timeZone} (UTC${offset})`;
}
