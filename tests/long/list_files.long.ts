import { expect, test } from "bun:test";
import { handler } from "../../plugins/list_files.ts";
import { tempWorkspace } from "../support/temp_workspace.ts";

test("list_files answers for a folder of 100,000 names in less than five seconds (SPEC-05)", async () => {
  await using temp = await tempWorkspace();
  await temp.sh("mkdir many && (cd many && seq 100000 | xargs touch)");
  const start = performance.now();
  const text = String(await handler({ path: "many" }, temp.context));
  expect(performance.now() - start).toBeLessThan(5000);
  expect(text).toEndWith("\n[500 of 100000 entries shown; name a subfolder or use a pattern to see others]");
  expect(text.length).toBeLessThan(50_000);
}, 300_000);
