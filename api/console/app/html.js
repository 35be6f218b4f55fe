// The only place that creates markup. Values become text nodes; no string is parsed as HTML.
import htm from "../vendor/htm/htm.mjs";
import { h, render, Fragment } from "../vendor/preact/preact.mjs";

export const html = htm.bind(h);
export { render, Fragment };
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact/hooks.mjs";
export { signal, computed, effect, batch } from "../vendor/signals/signals.mjs";
