// Limits and meanings of parameters, as the service's own reference tells them. Forms work without.
import { PATHS, ask } from "./api.js";
import { signal } from "./html.js";

export const reference = signal(null);
let asked = null;

export function loadLimits() {
  asked ??= ask(PATHS.reference).then((envelope) => { reference.value = envelope.data; }, () => { asked = null; });
  return asked;
}
export function limitsOf(name, operation = "music_collection_jobs") {
  const found = reference.value?.operations.find((one) => one.id === operation);
  return found?.parameters.find((one) => one.name === name) ?? null;
}
