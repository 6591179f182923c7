/** `npm run attacks`: all of them, some minutes. A few are in `npm test`. */

import { ATTACKS } from "./rows.ts";
import { testAttacks, testLists } from "./tests.ts";

testLists();
await testAttacks(ATTACKS);
