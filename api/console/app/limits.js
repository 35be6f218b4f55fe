// Parameter limits and descriptions from the service's reference. Forms also work without them.
import { PATHS, request } from "./api.js";
import { signal } from "./html.js";

export const reference = signal(null);
let pending = null;

export function loadLimits() {
  pending ??= request(PATHS.reference).then((envelope) => { reference.value = envelope.data; }, () => { pending = null; });
  return pending;
}
export function limitsOf(name, operation = "music_collection_jobs") {
  const found = reference.value?.operations.find((one) => one.id === operation);
  return found?.parameters.find((one) => one.name === name) ?? null;
}
