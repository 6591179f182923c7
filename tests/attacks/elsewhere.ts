/** Handed attacks without a row: what another test holds, and what waits for something that is not built. */

/** By id, the test file that holds it; its id is in a test there. */
export const HELD_ELSEWHERE: Readonly<Record<string, string>> = {
  "LINK-07": "tests/long/workspace_race.long.ts",
  "LINK-09": "tests/edit_file.test.ts",
  "SPEC-05": "tests/long/list_files.long.ts",
  "TRUST-05": "tests/e2e_trust.test.ts",
  "TRUST-15": "tests/e2e_integrity.test.ts",
  "RES-09": "tests/model.test.ts",
  "SHELL-17": "tests/fence_start.test.ts",
  "TERM-09": "tests/keys.test.ts",
  "TERM-11": "tests/repl.test.ts",
};

/** By id, what it waits for. */
export const PENDING: Readonly<Record<string, string>> = {
  "TRUST-11": "AGENTS.md, which is not read yet",
  "SESS-01": "sessions",
  "SESS-03": "sessions",
  "SESS-05": "sessions",
  "SESS-07": "sessions",
  "SUP-03": "releases",
};
