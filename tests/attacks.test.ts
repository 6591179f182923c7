import { ATTACKS } from "./attacks/rows.ts";
import { testAttacks, testLists } from "./attacks/tests.ts";

/** One of each kind; `npm run attacks` runs all. */
const FEW = ["PATH-01", "LINK-15", "SEC-01", "SEC-17", "SHELL-01", "NET-01", "PLUG-01", "PLUG-17", "TERM-01"];

testLists();
await testAttacks(ATTACKS.filter(({ id }) => FEW.includes(id)));
