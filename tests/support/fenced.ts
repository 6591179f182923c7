/**
 * A program for the tests of the fence: enters each layer that its first argument names, starts itself anew in each, then does one act
 * and prints what came of it as JSON.
 */

import { enterFence, type FenceRules, ownCommand } from "../../core/fence/fence.ts";
import { ACTS } from "./fence_acts.ts";

/** What the program is to do. `act` is a name in `ACTS`, `input` what that act takes. */
export interface Order {
  layers: FenceRules[];
  act: string;
  input: unknown;
}

if (import.meta.main) {
  const { layers: [layer, ...inner], act, input } = JSON.parse(process.argv[2]!) as Order;
  if (layer) {
    const order: Order = { layers: inner, act, input };
    const { PATH = "", TMPDIR = "", HOME = "" } = process.env;
    await enterFence(layer, ownCommand([JSON.stringify(order)]), { PATH, TMPDIR, HOME });
  }
  const result = await ACTS[act]!(input);
  console.log(`\n${JSON.stringify(result)}`);
  process.exit(0);
}
