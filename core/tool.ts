/** What a tool is: the types that a plugin file is written against. Types only, so that a plugin needs nothing installed. */

/** A JSON Schema object (draft 2020-12) with `type: "object"` on top. */
export type JsonSchema = { [keyword: string]: unknown };

/** Any schema of the Standard Schema kind; tenon reads valibot's. */
export interface StandardSchema {
  readonly "~standard": { readonly version: 1; readonly vendor: string };
}

/** What a tool needs beyond its input. Each one needs the user's flag or answer; the default is `{ read: true }`. */
export interface Permissions {
  /** Read files of the workspace. */
  read?: boolean;
  /** Change files of the workspace. */
  write?: boolean;
  /** Start programs. */
  run?: boolean;
  /** Hosts for `context.fetch`, each `"host:port"`. */
  net?: string[];
  /** Names of environment variables. */
  env?: string[];
}

/** How a tool presents itself to the model and to the user. */
export interface Definition {
  /** `^[a-zA-Z0-9_-]{1,64}$`, and the file's name without its ending. */
  name: string;
  /** For the model: what it does, when to use it, with which other tool. About three sentences. */
  description: string;
  input_schema: JsonSchema | StandardSchema;
  permissions?: Permissions;
  /** Limit of one call in milliseconds: default 120,000, at most 600,000. */
  timeout_ms?: number;
  /** Ask the API to hold the model's input to the schema. Needs `additionalProperties: false`. */
  strict?: boolean;
  /** Inputs that must pass the schema; `tenon check` runs them. */
  input_examples?: unknown[];
}

/** A block of a result: text, or an image by its bytes in base64. */
export type ContentBlock =
  | { type: "text"; text: string }
  | { type: "image"; source: { type: "base64"; media_type: string; data: string } };

/**
 * Does the work. The input has passed the schema. A string or content blocks go to the model as they are,
 * `undefined` as "(no output)", any other value as JSON. Throw an `Error` whose message tells the model what to do.
 */
// deno-lint-ignore no-explicit-any -- a handler names the type that its own schema holds
export type Handler<Input = any> = (input: Input, context: Context) => unknown;

/**
 * What a call would change, for whoever is asked before it runs. Gets what the handler gets and writes nothing; where the handler would
 * refuse, it throws the same. What only the attempt can tell (a full disk) it does not know.
 */
// deno-lint-ignore no-explicit-any -- as for a handler
export type Preview<Input = any> = (input: Input, context: Context) => Promise<Proposal> | Proposal;

/** What is about to happen: a change of a file, or a command. */
export type Proposal = Change | { command: string };

export interface Change {
  /** The file itself, behind every link, relative to the workspace root; it need not be there yet. */
  path: string;
  /**
   * Unified diff from the file as it is to the file as it would be; from `/dev/null` where it is new. A line in brackets above it tells
   * what it cannot show. Text of strangers: not cleaned.
   */
  diff: string;
}

/** What a handler gets beside its input. */
export interface Context {
  workspace: Workspace;
  /** Aborted when the user stops the turn or the time is up; the process ends 500 ms later. */
  signal: AbortSignal;
  /** Shows one line to the user while the call runs. Never reaches the model. */
  progress(text: string): void;
  /** Which files the model has seen in this session. */
  seen: Seen;
  /** Present where `permissions.run` is declared: where and with what programs start, as options of `spawn`. */
  run?: { cwd: string; env: { [name: string]: string } };
  /**
   * Present in a call where `permissions.net` is declared: https, only to the hosts that the user granted, 10 MB at most either way.
   * A redirect is followed on the same host only.
   */
  fetch?(input: string | URL | Request, init?: RequestInit): Promise<Response>;
}

/** Remembers what was read, so that nothing is overwritten unseen. Paths as `workspace.resolve` gives them. */
export interface Seen {
  get(path: string): SeenFile | undefined;
  note(path: string, file: SeenFile): void;
}

export interface SeenFile {
  /** SHA-256 of the whole file in hex, at the time of the read. */
  sha256: string;
  /** Whether the model was shown all of it. */
  whole: boolean;
  /**
   * Of a text that was shown in part: its lines that were, from 1, none of them cut; and how many it has. What is noted of one content adds up:
   * when no line is left, it counts as whole.
   */
  lines?: { shown: [first: number, last: number][]; total: number };
  /** Names that the file had then (hard links); absent where it had one. */
  names?: number;
}

export interface Entry {
  /** Relative to the workspace root, with `/`; can be handed to any tool as it is. */
  path: string;
  kind: "file" | "folder" | "link" | "other";
}

export interface Stat {
  kind: "file" | "folder" | "other";
  /** Bytes. */
  size: number;
  /** Names that a file has (hard links), wherever they are; 1 where the system does not tell. */
  names: number;
  /** Whether `writeText` writes it in place: all its names have the new content then. Else only the one that it is written by has. */
  inPlace: boolean;
}

export interface WalkOptions {
  /** The folder to begin in; named explicitly it is entered even if it would be skipped. Default: the root. */
  path?: string;
  /** Go into subfolders. Default: true. */
  recursive?: boolean;
  /** Called once for each folder or file that the skip list or a .gitignore leaves out. */
  skipped?(entry: Entry): void;
}

export interface FilesOptions extends WalkOptions {
  /** Bytes of the longest file that is read. */
  limit: number;
  /** Whether a file is read at all. Default: each one is. */
  wanted?(entry: Entry): boolean;
}

/** A file that a walk came by: its bytes, or the reason why there are none. */
export interface WalkedFile {
  /** As in `Entry`. */
  path: string;
  bytes?: Uint8Array;
  reason?: "too large" | "not readable";
}

/**
 * The one folder. Every path is resolved to its real place, must lie inside, is opened, and the open file is checked
 * again; there is no other way to a file. Errors are written for the model: `Cannot read "x": …`.
 */
export interface Workspace {
  /**
   * The real path relative to the root, with `/`; `.` is the root itself. Throws if it leads outside, or if nothing is there. For
   * `"write"` the file need not be there: where `writeText` would put it. Throws what that would throw without touching the disk.
   */
  resolve(path: string, access?: "read" | "write"): Promise<string>;
  /** A whole UTF-8 file without its BOM. Throws when it is not UTF-8, has a NUL in it (binary, UTF-16) or is over 10 MB. */
  readText(path: string): Promise<string>;
  /** Bytes from `offset` (default 0), at most `length` (default: to the end, at most 50 MB). */
  readBytes(path: string, range?: { offset?: number; length?: number }): Promise<Uint8Array>;
  /** The file in chunks through one open handle: for files of any size. */
  readChunks(path: string): AsyncIterable<Uint8Array>;
  stat(path: string): Promise<Stat>;
  exists(path: string): Promise<boolean>;
  /** One folder, sorted by code point, nothing skipped. */
  list(path?: string): Promise<Entry[]>;
  /** Depth first, sorted by code point, without what the skip list and .gitignore leave out. Links are named, never entered. */
  walk(options?: WalkOptions): AsyncIterable<Entry>;
  /** The regular files of a walk with their bytes, in its order; some are read ahead. For looking into very many files. */
  walkFiles(options: FilesOptions): AsyncIterable<WalkedFile>;
  /**
   * Replaces or creates a file at once (temporary file, then rename), with the folders it needs. `replaces` is the SHA-256 in hex of
   * the file that this text was made from, or null when there was none: throws, with the file as it is, when that is no longer so. A file that the
   * user granted without its folder is written in place instead, so that a kill in the middle can leave some of either content.
   */
  writeText(path: string, text: string, options?: { replaces?: string | null }): Promise<void>;
  /** The same for a file of any kind. */
  writeBytes(path: string, bytes: Uint8Array, options?: { replaces?: string | null }): Promise<void>;
}
