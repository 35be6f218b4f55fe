// Reads of a view: one document, or the rows of a query.
import { PATHS, request, unlessAborted } from "../api.js";
import { useEffect, useState } from "../html.js";
import { loadReference, reference } from "../limits.js";

// The document at a path as {data, error}, read again when the path changes; neither is set before it is read.
export function useDocument(path, options) {
  const [state, setState] = useState({});
  useEffect(() => {
    const stopping = new AbortController();
    request(path, { ...options, signal: stopping.signal }).then(
      (envelope) => setState({ data: envelope.data }),
      unlessAborted((error) => setState({ error })),
    );
    return () => stopping.abort();
  }, [path]);
  return state;
}

// Rows of a query of the library, as objects by column.
export async function readRows(query, { parameters = {}, rowLimit, signal } = {}) {
  const body = { query, parameters, row_limit: rowLimit };
  const { columns, rows } = (await request(PATHS.sql, { method: "POST", body, signal })).data;
  return rows.map((cells) => Object.fromEntries(columns.map((column, at) => [column.name, cells[at]])));
}

// A parameter of an operation as the reference of the service describes it; undefined until that is read.
export function useParameter(path, name, method = "GET") {
  useEffect(() => {
    loadReference().catch(() => {}); // the service checks the value in any case
  }, []);
  const operation = reference.value?.operations.find((entry) => entry.path === path && entry.method === method);
  return operation?.parameters.find((parameter) => parameter.name === name);
}
