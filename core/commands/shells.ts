/** The programs that run a command: the first one that is there. */
export const SHELLS = ["bash", "sh"];
