// The one place where markup is made: text nodes only, no string is ever parsed as HTML.
import htm from "../vendor/htm/htm.mjs";
import { h, render, Fragment } from "../vendor/preact/preact.mjs";

export const html = htm.bind(h);
export { render, Fragment };
export { useEffect, useMemo, useRef, useState } from "../vendor/preact/hooks.mjs";
export { signal, computed, effect, batch } from "../vendor/signals/signals.mjs";
