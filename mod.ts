/** tenon: starts the program; for plugins, the types that they are written against. */

export type {
  ContentBlock,
  Context,
  Definition,
  Entry,
  Handler,
  JsonSchema,
  Permissions,
  Seen,
  SeenFile,
  StandardSchema,
  Stat,
  WalkOptions,
  Workspace,
} from "./core/tool.ts";

if (import.meta.main) {
  const { main } = await import("./core/cli.ts");
  const { default: process } = await import("node:process");
  await main(process.argv.slice(2));
}
