import { describe, expect, test } from "bun:test";
import { definition, describeTime, handler, nameOfZone } from "../plugins/get_time.ts";
import { runTenon, type Way, WAYS } from "./support/program.ts";
import { tempWorkspace } from "./support/temp_workspace.ts";

const TOLD = /^\w+day \d{4}-\d\d-\d\d, \d\d:\d\d:\d\d, (?:[A-Z]\S* \(UTC[+-]\d\d:\d\d\)|local time, UTC[+-]\d\d:\d\d)$/;

describe("get_time", () => {
  const rows: [zone: string | number, at: string, text: string][] = [
    ["UTC", "2026-11-30T03:33:52Z", "Monday 2026-11-30, 03:33:52, UTC (UTC+00:00)"],
    ["Europe/Berlin", "2026-07-01T22:30:00Z", "Thursday 2026-07-02, 00:30:00, Europe/Berlin (UTC+02:00)"],
    ["Europe/London", "2026-01-01T00:00:00Z", "Thursday 2026-01-01, 00:00:00, Europe/London (UTC+00:00)"],
    ["America/St_Johns", "2026-01-01T00:00:00Z", "Wednesday 2025-12-31, 20:30:00, America/St_Johns (UTC-03:30)"],
    ["Asia/Kathmandu", "2024-02-29T12:00:00Z", "Thursday 2024-02-29, 17:45:00, Asia/Kathmandu (UTC+05:45)"],
    [180, "2026-11-30T22:33:52Z", "Tuesday 2026-12-01, 01:33:52, local time, UTC+03:00"],
    [-210, "2026-01-01T00:00:00Z", "Wednesday 2025-12-31, 20:30:00, local time, UTC-03:30"],
    [0, "2026-01-01T00:00:00Z", "Thursday 2026-01-01, 00:00:00, local time, UTC+00:00"],
  ];
  test.each(rows)("writes out day, time, zone and offset in %p", (zone, at, text) => {
    expect(describeTime(new Date(at), zone)).toBe(text);
  });

  test("tells the time of now", async () => {
    await using temp = await tempWorkspace();
    expect(await handler({}, temp.context)).toMatch(TOLD);
  });

  const names: [name: string | undefined, taken: boolean][] = [
    ["Asia/Taipei", true],
    ["UTC", true],
    [undefined, false],
    ["Etc/Unknown", false],
    ["+00:00", false],
    ["", false],
  ];
  test.each(names)("takes %p for the name of a zone: %p", (name, taken) => {
    expect(nameOfZone(name)).toBe(taken ? name : undefined);
  });

  test("needs no permission at all", () => expect(definition.permissions).toEqual({}));
});

describe.concurrent.each([...WAYS])("get_time as %s", (way: Way) => {
  test("tells the time of the user's TZ, with an offset whatever it is", async () => {
    await using temp = await tempWorkspace();
    const timeIn = async (TZ: string): Promise<string> => {
      const { stdout } = await runTenon(way, { cwd: temp.root, args: ["call", "get_time"], env: { TZ } });
      return stdout.trimEnd();
    };
    expect(await timeIn("Asia/Taipei")).toEndWith(", Asia/Taipei (UTC+08:00)");
    for (const odd of ["", ":/etc/localtime", "UTC+3"]) {
      expect(await timeIn(odd)).toMatch(TOLD);
    }
  }, 60_000);
});
