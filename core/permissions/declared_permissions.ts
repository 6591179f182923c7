/** The permissions that a plugin's text declares, read without running it: what the user is shown before it is trusted. */

import { checkPermissions } from "../plugins/plugins.ts";
import type { Permissions } from "../tool.ts";

/**
 * Undefined when they are not written as one plain literal. The text may lie: once the plugin is trusted and loaded, what it
 * really declares must be the same.
 */
export function declaredPermissions(text: string): Permissions | undefined {
  const places = [...text.matchAll(/\bpermissions["']?\s*:\s*/g)];
  const [place] = places;
  if (!place) return { read: true };
  if (places.length > 1) return undefined;
  const literal = /^\{[^{}]*\}/.exec(text.slice(place.index + place[0].length, place.index + 5000))?.[0];
  if (literal === undefined) return undefined;
  const json = literal
    .replace(/'([^'"\\]*)'/g, (_, inner: string) => `"${inner}"`)
    .replace(/([{,]\s*)(\w+)(\s*:)/g, (_, before: string, name: string, after: string) => `${before}"${name}"${after}`)
    .replace(/,(\s*[}\]])/g, (_, end: string) => end);
  try {
    return checkPermissions(JSON.parse(json));
  } catch {
    return undefined;
  }
}
