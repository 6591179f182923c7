import { describe, expect, test } from "bun:test";
import { definition, describeTime, handler } from "../plugins/get_time.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

describe("get_time", () => {
  const rows: [zone: string, at: string, text: string][] = [
    ["UTC", "2026-11-30T03:33:52Z", "Monday 2026-11-30, 03:33:52, UTC (UTC+00:00)"],
    ["Europe/Berlin", "2026-07-01T22:30:00Z", "Thursday 2026-07-02, 00:30:00, Europe/Berlin (UTC+02:00)"],
    ["Europe/London", "2026-01-01T00:00:00Z", "Thursday 2026-01-01, 00:00:00, Europe/London (UTC+00:00)"],
    ["America/St_Johns", "2026-01-01T00:00:00Z", "Wednesday 2025-12-31, 20:30:00, America/St_Johns (UTC-03:30)"],
    ["Asia/Kathmandu", "2024-02-29T12:00:00Z", "Thursday 2024-02-29, 17:45:00, Asia/Kathmandu (UTC+05:45)"],
  ];
  test.each(rows)("writes out day, time, zone and offset in %s", (zone, at, text) => {
    expect(describeTime(new Date(at), zone)).toBe(text);
  });

  test("tells the time of now", async () => {
    await using temp = await tempWorkspace();
    expect(await handler({}, temp.context)).toMatch(
      /^\w+day \d{4}-\d\d-\d\d, \d\d:\d\d:\d\d, \S+ \(UTC[+-]\d\d:\d\d\)$/,
    );
  });

  test("needs no permission at all", () => expect(definition.permissions).toEqual({}));
});
