// Parameter limits, which come with the labels of terms, and the service's reference of all operations.
import { PATHS, request } from "./api.js";
import { signal } from "./html.js";
import { termLabels } from "./i18n.js";

export const reference = signal(null);
let pending = null;

// Read once. Rejects if it cannot be read; the next call tries again.
export function loadReference() {
  pending ??= request(PATHS.reference).then(
    (envelope) => {
      reference.value = envelope.data;
    },
    (error) => {
      pending = null;
      throw error;
    },
  );
  return pending;
}
export function limitsOf(name) {
  return termLabels.value.limits?.[name] ?? null;
}
