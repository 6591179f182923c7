import { expect, test } from "bun:test";
import { deniedInside } from "../core/permissions/denied_inside.ts";
import { makePolicy } from "../core/permissions/policy.ts";
import { flagsOf, PLACE } from "./support/flags.ts";

const ALL = "held for the file tools; programs and plugin code can still";
const rows: [flags: string[], lines: string[]][] = [
  [[], []],
  [["--deny-read=kesi.py"], [`--deny-read=kesi.py: ${ALL} read it`]],
  [["--deny-write=a,/ws/b"], [`--deny-write=a,b: ${ALL} change them`]],
  [["--deny-read=a", "--deny-write=a"], [`--deny-read=a: ${ALL} read it`, `--deny-write=a: ${ALL} change it`]],
  [["--deny-read=a", "--deny-run"], ["--deny-read=a: held for the file tools; plugin code can still read it"]],
  [["--allow-read=a,b", "--deny-read=b"], []],
  [["--allow-read=a,b", "--deny-read=b,a/c"], [`--deny-read=a/c: ${ALL} read it`]],
  [["--allow-read=/out", "--deny-read=/out/x"], [`--deny-read=/out/x: ${ALL} read it`]],
  [["--deny-read", "--deny-write=."], []],
  [["--deny-read=/elsewhere,../ws-secret"], []],
];
test.each(rows)("deniedInside under %j tells %j", (flags, lines) => {
  expect(deniedInside(makePolicy(flagsOf(flags).flags, PLACE))).toEqual(lines);
});
