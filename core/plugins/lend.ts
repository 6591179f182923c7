/** Lends plugins what the program itself has, so that they need nothing installed: `valibot` and `tenon`. */

// @ts-types="../../node_modules/valibot/dist/index.d.mts"
import * as valibot from "valibot";

interface BunPlugins {
  plugin(plugin: { name: string; setup(build: BunBuild): void }): void;
}

interface BunBuild {
  module(name: string, factory: () => { exports: object; loader: "object" }): void;
}

let lent = false;

/**
 * Must run before the first plugin is imported. Under Deno `imports` in deno.json does the same. The module is imported
 * above and not in the factory: there a bare `import("valibot")` would ask for itself.
 */
export function lendModules(): void {
  const bun = (globalThis as { Bun?: BunPlugins }).Bun;
  if (lent) return;
  lent = true;
  bun?.plugin({
    name: "tenon",
    setup(build) {
      build.module("valibot", () => ({ exports: valibot, loader: "object" }));
      build.module("tenon", () => ({ exports: {}, loader: "object" })); // types only
    },
  });
}
