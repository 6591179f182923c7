/** What each level does not stop, by the ids of the attacks: the README's table says the same, and the suite expects just this. */

import type { FenceStatus } from "../../core/fence/fence_rules.ts";

export interface ExpectedBreach {
  /** Attacks that breach, all for the one reason. */
  ids: readonly string[];
  /** The reason, in words for the user. */
  what: string;
}

/** `kernel`: Bun on Linux. `runtime`: Deno with the flags of the README, and with `--allow-run` where a command is run. */
export const EXPECTED_BREACHES: Readonly<Record<Exclude<FenceStatus["level"], "guard">, readonly ExpectedBreach[]>> = {
  kernel: [
    { ids: ["SHELL-19"], what: "times and modes of files outside can be changed where the user may" },
  ],
  runtime: [
    {
      ids: [
        ...["SEC-15", "SHELL-01", "SHELL-19", "SEC-03", "SHELL-03", "SHELL-07", "SHELL-15"],
        ...["NET-01", "NET-03", "NET-05", "NET-07", "SPEC-09"],
      ],
      what: "a program that a tool starts reaches every file, process and host that the user reaches",
    },
  ],
};

/** The ids alone. */
export function expectedIds(level: keyof typeof EXPECTED_BREACHES): ReadonlySet<string> {
  return new Set(EXPECTED_BREACHES[level].flatMap(({ ids }) => ids));
}

/** What a worker of Deno does not hold of a plugin's faults; each is shown by a test in host_process.test.ts. */
export const EXPECTED_FAULTS: readonly { fixture: string; what: string }[] = [
  { fixture: "writes_to_stdout", what: "a raw write to stdout gets between the answers" },
  { fixture: "starts_a_program", what: "so does what a program prints that a plugin starts with its own stdout" },
  {
    fixture: "spins_for_ever",
    what: "a tool that never returns is answered for, and its thread spins until tenon ends",
  },
  { fixture: "takes_the_heap", what: "a tool that takes all memory ends tenon" },
];
