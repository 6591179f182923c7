/** Names that are refused wherever they are: files that hold secrets, and the folder that git runs programs from. */

/**
 * A name as lenient file systems compare it: without case, without the characters that HFS+ ignores, without the trailing dots and
 * spaces that NTFS drops; and the same without its stream (`.env::$DATA`).
 */
function lenient(name: string): string[] {
  const plain = name.normalize("NFKC").replace(/[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu, "").toLowerCase();
  return [plain, plain.replace(/:.*$/s, "")].map((form) => form.replace(/[. ]+$/, ""));
}

const SECRET =
  /^(\.env|\.env\..*|.*\.pem|id_(rsa|dsa|ecdsa|ed25519).*|\.ssh|\.aws|\.netrc|\.npmrc|\.git-credentials)$/s;

/** What NTFS calls these when it is asked for eight characters and three: `.env.local` is `ENV~1.LOC`. */
const SHORT_SECRET = /^(env|ssh|aws|netrc|npmrc|git-cr|id_(rsa|dsa|ecd|ed2)\w*)~\d+(\.\w{0,3})?$/;

/** Whether a file or folder of this name holds secrets. `.env.example` is one that does not. */
export function isSecretName(name: string): boolean {
  return lenient(name).some((form) => form !== ".env.example" && (SECRET.test(form) || SHORT_SECRET.test(form)));
}

/** Whether a name is `.git` in any spelling that some file system takes for it. */
export function isGitName(name: string): boolean {
  return lenient(name).some((form) => /^(\.git|git~\d+)$/.test(form));
}
