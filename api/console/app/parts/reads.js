// Reads of a view: one document, or the rows of a query.
import "../messages/result.js";

export function toRows({ columns, rows }) {
  return rows.map((cells) => Object.fromEntries(columns.map((column, at) => [column.name, cells[at]])));
}
