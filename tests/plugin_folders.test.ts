import { describe, expect, test } from "bun:test";
import { type Places, pluginFoldersOf } from "../core/plugins/plugin_folders.ts";

const PLACES: Places = {
  root: "/ws",
  writable: ["/ws"],
  own: "/opt/tenon/plugins",
  isSource: false,
  further: ["/home/u/.config/tenon/plugins", "/p"],
  realOf: (path) => path,
};

/** `!` marks those that must be trusted. */
function foldersOf(more: Partial<Places>): string[] {
  return pluginFoldersOf({ ...PLACES, ...more }).map(({ path, needsTrust }) => needsTrust ? `!${path}` : path);
}

describe("pluginFoldersOf", () => {
  const further = PLACES.further;
  const rows: [what: string, more: Partial<Places>, folders: string[]][] = [
    ["trusts what lies out of reach, in order", {}, ["/opt/tenon/plugins", ...further, "!/ws/.tenon/plugins"]],
    ["asks when the executable is in the workspace", { own: "/ws/plugins", further: [] }, [
      ...["!/ws/plugins", "!/ws/.tenon/plugins"],
    ]],
    ["runs the sources as they are", { own: "/ws/plugins", isSource: true, further: [] }, [
      ...["/ws/plugins", "!/ws/.tenon/plugins"],
    ]],
    ["asks for a folder of --plugins in the workspace", { further: ["/ws/p"] }, [
      ...["/opt/tenon/plugins", "!/ws/p", "!/ws/.tenon/plugins"],
    ]],
    ["does not take a sibling with the same prefix for the workspace", { further: ["/ws-p"] }, [
      ...["/opt/tenon/plugins", "/ws-p", "!/ws/.tenon/plugins"],
    ]],
    ["asks for the workspace itself as a plugin folder", { further: ["/ws"] }, [
      ...["/opt/tenon/plugins", "!/ws", "!/ws/.tenon/plugins"],
    ]],
    ["asks for a folder that holds the workspace", { root: "/p/lib", writable: [], further: ["/p"] }, [
      ...["/opt/tenon/plugins", "!/p", "!/p/lib/.tenon/plugins"],
    ]],
    ["asks for a folder that an allow flag lets tools write in", { writable: ["/ws", "/p"], further: ["/p/q"] }, [
      ...["/opt/tenon/plugins", "!/p/q", "!/ws/.tenon/plugins"],
    ]],
    ["asks for a folder that is a link into the workspace", {
      further: ["/p"],
      realOf: (path) => path === "/p" ? "/ws/x" : path,
    }, ["/opt/tenon/plugins", "!/ws/x", "!/ws/.tenon/plugins"]],
    ["takes each place once", { further: ["/ws/.tenon/plugins", "/opt/tenon/plugins"] }, [
      ...["/opt/tenon/plugins", "!/ws/.tenon/plugins"],
    ]],
    ["leaves out a folder of the workspace that is a link to elsewhere", {
      further: [],
      realOf: (path) => path === "/ws/.tenon/plugins" ? "/elsewhere" : path,
    }, ["/opt/tenon/plugins"]],
  ];
  test.each(rows)("%s", (_, more, folders) => expect(foldersOf(more)).toEqual(folders));
});
