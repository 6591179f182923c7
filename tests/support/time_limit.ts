/** Read before every test file (bunfig.toml): a test that starts programs may meet a busy machine. */

import { setDefaultTimeout } from "bun:test";

setDefaultTimeout(30_000);
