/** The tests of attacks: each against tenon in every way that it applies to, and its control. */

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { probeFence } from "../../core/fence/fence.ts";
import { attackTenon, attackUser } from "../support/attack_run.ts";
import { SOURCES, type Way } from "../support/program.ts";
import type { Attack } from "./attack.ts";
import { HELD_ELSEWHERE, PENDING } from "./elsewhere.ts";
import { EXPECTED_BREACHES, expectedIds } from "./expected_breaches.ts";
import { ATTACKS } from "./rows.ts";

/** Milliseconds for one attack: a run that hangs is ended after 30 s. */
const LIMIT_MS = 60_000;

const WAYS: readonly Way[] = ["executable", "deno"];

/** Defines the tests of these attacks. Where there is no fence for Bun its runs are skipped, with a count on stderr. */
export async function testAttacks(attacks: readonly Attack[]): Promise<void> {
  const { level, not_covered } = await probeFence();
  if (level !== "kernel") {
    console.error(`SKIPPED: ${attacks.length} attacks on the kernel's fence, since ${not_covered[0]}`);
  }
  for (const attack of attacks) {
    describe(attack.id, () => {
      for (const way of attack.ways ?? WAYS) {
        const isExpected = expectedIds(way === "deno" ? "runtime" : "kernel").has(attack.id);
        const name = isExpected ? `is not stopped as ${way}` : `tenon ${attack.holds}, as ${way}`;
        test.skipIf(way !== "deno" && level !== "kernel")(name, async () => {
          const breaches = await attackTenon(way, attack);
          if (isExpected) expect(breaches).not.toEqual([]);
          else expect(breaches).toEqual([]);
        }, LIMIT_MS);
      }
      const { control } = attack;
      if (typeof control === "object" && "none" in control) return;
      test("breaches where nothing stops it", async () => {
        const breaches = typeof control === "object"
          ? await attackUser(attack, control.user)
          : await attackTenon("executable", attack, control);
        expect(breaches).not.toEqual([]);
      }, LIMIT_MS);
    });
  }
}

/** Defines the tests of the lists themselves. */
export function testLists(): void {
  const ids = ATTACKS.map(({ id }) => id);
  const without = ATTACKS.filter(({ control }) => typeof control === "object" && "none" in control);

  test("every attack is named once", () => {
    const all = [...ids, ...Object.keys(HELD_ELSEWHERE), ...Object.keys(PENDING)];
    expect(all.toSorted()).toEqual([...new Set(all)].toSorted());
  });

  test.each(Object.entries(HELD_ELSEWHERE))("%s is held by %s", (id, file) => {
    expect(readFileSync(join(SOURCES, file), "utf8")).toContain(id);
  });

  test("every expected breach is an attack with a row", () => {
    const expected = Object.values(EXPECTED_BREACHES).flat().flatMap((breach) => breach.ids);
    expect(expected.filter((id) => !ids.includes(id))).toEqual([]);
  });

  for (const [id, reason] of Object.entries(PENDING)) test.todo(`${id} waits for ${reason}`);
  for (const { id, control } of without) console.log(`no control: ${id}: ${(control as { none: string }).none}`);
}
