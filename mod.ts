/** tenon: starts the program; for plugins, the types that they are written against. */

export type * from "./core/tool.ts";

if (import.meta.main) {
  const { readEnv } = await import("./core/runtime.ts");
  const { ROLE } = await import("./core/hosts/role.ts");
  const role = readEnv(ROLE);
  if (role && role !== "core") {
    const { runHost } = await import("./core/hosts/host_main.ts");
    await runHost(role);
  } else {
    const { default: process } = await import("node:process");
    const { main } = await import("./core/cli.ts");
    await main(process.argv.slice(2));
  }
}
