/** The built-in tools, so that they are bundled. */

export * as bash from "./bash.ts";
export * as edit_file from "./edit_file.ts";
export * as get_time from "./get_time.ts";
export * as glob from "./glob.ts";
export * as list_files from "./list_files.ts";
export * as read_file from "./read_file.ts";
export * as search_code from "./search_code.ts";
export * as write_file from "./write_file.ts";
