// The lines of an import from the text of a table, by the rules of the service's reader of files: a first line that
// names a known column is the header; without a header the first column is the track. If the first line is not a row
// either, such as the text of a shared link, each whole line is one track.
import { isTrack } from "../../parts/scan_request.js";

const DELIMITERS = [",", ";", "\t"];
const TRACK = "track";
const HEADERS = new Set([
  TRACK,
  "input",
  "music_id",
  "link",
  "url",
  "video",
  "id",
  "音乐id",
  "链接",
  "label",
  "title",
  "name",
  "song",
  "歌名",
  "artist",
  "artists",
  "歌手",
  "priority",
  "优先级",
]);
const isFilled = (value) => value.trim() !== "";

// Lines as {number, values by column}, and `open`: the line of a quotation mark that is not closed, else null.
export function tableLines(text) {
  const plain = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const { rows, open } = rowsOf(plain);
  const filled = rows.filter(({ cells }) => cells.some(isFilled));
  const first = filled[0]?.cells ?? [];
  if (first.some((name) => HEADERS.has(name.trim().toLowerCase().replaceAll(" ", "_"))))
    return { lines: named(filled.slice(1), columnsOf(first)), open };
  const isRow = first.length > 1 && isTrack(first[0]) && !/\s/.test(first[0].trim());
  if (isRow) return { lines: named(filled, [TRACK]), open };
  return {
    lines: plain
      .split("\n")
      .map((line, at) => ({ number: at + 1, values: { [TRACK]: line } }))
      .filter(({ values }) => isFilled(values[TRACK])),
    open: null,
  };
}

// Rows as {number, cells}, with quotation marks as spreadsheets write them; a value in them may span lines.
function rowsOf(text) {
  const [first] = text.replace(/^\n+/, "").split("\n", 1);
  const delimiter = DELIMITERS.reduce((most, sign) =>
    first.split(sign).length > first.split(most).length ? sign : most,
  );
  const rows = [];
  let [number, line, cells, cell, isQuoted, isBegun] = [1, 1, [], "", false, false];
  const endCell = () => {
    cells.push(cell);
    [cell, isBegun] = ["", false];
  };
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === "\n") line += 1;
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') {
        cell += sign;
        at += 1;
      } else isQuoted = false;
    } else if (sign === '"' && !isBegun) [isQuoted, isBegun] = [true, true];
    else if (sign === delimiter) endCell();
    else if (sign === "\n") {
      endCell();
      rows.push({ number, cells });
      [number, cells] = [line, []];
    } else {
      cell += sign;
      isBegun = true;
    }
  }
  endCell();
  rows.push({ number, cells });
  return { rows, open: isQuoted ? number : null };
}

const nameOf = (names, at) => names[at] ?? `column_${at + 1}`;

// The names of a header, each once.
function columnsOf(header) {
  const names = [];
  header.forEach((title, at) => {
    const name = title.trim() || nameOf([], at);
    names.push(names.includes(name) ? `${name}_${at + 1}` : name);
  });
  return names;
}

function named(rows, names) {
  return rows.map(({ number, cells }) => ({
    number,
    values: Object.fromEntries(
      cells.map((value, at) => [nameOf(names, at), value]).filter(([, value]) => isFilled(value)),
    ),
  }));
}
