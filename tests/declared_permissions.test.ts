import { describe, expect, test } from "bun:test";
import { declaredPermissions } from "../core/permissions/declared_permissions.ts";
import type { Permissions } from "../core/tool.ts";

describe("declaredPermissions reads", () => {
  const rows: [text: string, permissions: Permissions | undefined][] = [
    ["export const definition = { name: 'a' }", { read: true }],
    ["permissions: {}", {}],
    ["permissions: { read: true, write: true }", { read: true, write: true }],
    ["permissions: {\n    run: true,\n  },", { run: true }],
    ['permissions: { net: [\'a.com:443\', "b.com:443"], env: ["A"], },', {
      net: ["a.com:443", "b.com:443"],
      env: ["A"],
    }],
    ['"permissions": { "read": false }', { read: false }],
    ["Shows the permissions of a file", { read: true }],
    // What is not one plain literal is not shown as if it were.
    ["permissions: needs", undefined],
    ["permissions: { ...needs }", undefined],
    ["permissions: { read: true /* and more */ }", undefined],
    ["permissions: { read: !0 }", undefined],
    ["permissions: { delete: true }", undefined],
    ["permissions: { read: true }, permissions: { run: true }", undefined],
    ["// permissions: { read: true }\npermissions: { run: true }", undefined],
    ["permissions: { read: true", undefined],
  ];
  test.each(rows)("%j", (text, permissions) => expect(declaredPermissions(text)).toEqual(permissions));
});
