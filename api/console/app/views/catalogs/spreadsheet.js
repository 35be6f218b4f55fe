// The first sheet of an XLSX file as CSV text, read in the browser. An XLSX file is a ZIP archive of XML
// parts. Formulas are not evaluated: their stored values are read. The parts are read by patterns, because
// the page forbids every way of making a document from text (trusted types).

const END_OF_ARCHIVE = 0x06054b50,
  ENTRY = 0x02014b50;
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const DATE_FORMATS = new Set([14, 15, 16, 17, 22]); // those that every workbook has
const MOST_BYTES = 200_000_000; // of one part, unpacked
const MOST_COLUMNS = 200;
const DAY_MS = 86_400_000;

// Elements of a name with any prefix. A pattern is enough: no element that is read here contains another of its name.
function all(xml, name) {
  const element = new RegExp(`<(?:\\w+:)?${name}(\\s[^>]*?)?(?:/>|>([^]*?)</(?:\\w+:)?${name}\\s*>)`, "g");
  return [...(xml ?? "").matchAll(element)].map(([, attributes = "", body = ""]) => ({ attributes, body }));
}

function attribute(element, name) {
  const match = new RegExp(`\\s(?:\\w+:)?${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(element?.attributes ?? "");
  return match ? plain(match[1] ?? match[2]) : null;
}

const plain = (text) =>
  text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) =>
    name ? (ENTITIES[name] ?? whole) : String.fromCodePoint(hex ? parseInt(hex, 16) : Number(decimal)),
  );

export async function sheetAsCsv(file) {
  const parts = partsOf(new DataView(await file.arrayBuffer()));
  const xml = async (name) => (parts.has(name) ? unpack(parts.get(name)) : "");
  const book = await xml("xl/workbook.xml");
  const sheet = await xml(sheetName(book, await xml("xl/_rels/workbook.xml.rels")));
  if (!/<(?:\w+:)?sheetData[\s/>]/.test(sheet)) throw new Error("no sheet");
  const shared = all(await xml("xl/sharedStrings.xml"), "si").map(textOf);
  const dates = dateStyles(await xml("xl/styles.xml"));
  const counts1904 = /^(1|true)$/.test(attribute(all(book, "workbookPr")[0], "date1904") ?? "");
  const day0 = counts1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30);
  return all(sheet, "row")
    .map((row) => lineOf(row, { shared, dates, day0 }))
    .join("\n");
}

// Name to place and size of each file of a ZIP archive, from the directory at its end.
function partsOf(data) {
  let at = data.byteLength - 22;
  while (at >= 0 && data.getUint32(at, true) !== END_OF_ARCHIVE) at -= 1;
  if (at < 0) throw new Error("no archive");
  const parts = new Map();
  for (
    let entry = data.getUint32(at + 16, true), remaining = data.getUint16(at + 10, true);
    remaining > 0;
    remaining -= 1
  ) {
    if (data.getUint32(entry, true) !== ENTRY) throw new Error("broken archive");
    const [nameSize, extra, comment] = [28, 30, 32].map((place) => data.getUint16(entry + place, true));
    const name = new TextDecoder().decode(new Uint8Array(data.buffer, entry + 46, nameSize));
    const local = data.getUint32(entry + 42, true);
    const begin = local + 30 + data.getUint16(local + 26, true) + data.getUint16(local + 28, true);
    const packed = new Uint8Array(data.buffer, begin, data.getUint32(entry + 20, true));
    parts.set(name, {
      packed,
      isPlain: data.getUint16(entry + 10, true) === 0,
      size: data.getUint32(entry + 24, true),
    });
    entry += 46 + nameSize + extra + comment;
  }
  return parts;
}

async function unpack({ packed, isPlain, size }) {
  if (size > MOST_BYTES) throw new Error("too large");
  if (isPlain) return new TextDecoder().decode(packed);
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
}

function sheetName(book, relations) {
  const id = attribute(all(book, "sheet")[0], "id");
  const target =
    attribute(
      all(relations, "Relationship").find((relation) => attribute(relation, "Id") === id),
      "Target",
    ) ?? "";
  return target.startsWith("/") ? target.slice(1) : `xl/${target}`;
}

// Text of a cell, without the readings of Chinese or Japanese characters.
function textOf({ body }) {
  const written = body.replace(/<(?:\w+:)?rPh[\s>][^]*?<\/(?:\w+:)?rPh\s*>/g, "");
  return all(written, "t")
    .map((run) => plain(run.body))
    .join("");
}

// Numbers of the cell styles that show a number as a date.
function dateStyles(styles) {
  const formats = new Set(DATE_FORMATS);
  for (const form of all(styles, "numFmt")) {
    const code = (attribute(form, "formatCode") ?? "").toLowerCase().replace(/"[^"]*"|\\.|\[[^\]]*\]/g, "");
    if (/[yd]/.test(code)) formats.add(Number(attribute(form, "numFmtId")));
  }
  const cells = all(all(styles, "cellXfs")[0]?.body, "xf");
  return new Set(cells.flatMap((style, at) => (formats.has(Number(attribute(style, "numFmtId"))) ? [String(at)] : [])));
}

function lineOf(row, book) {
  const values = [];
  for (const cell of all(row.body, "c")) {
    const place = columnOf(attribute(cell, "r"), values.length);
    if (place < MOST_COLUMNS) values[place] = valueOf(cell, book);
  }
  return Array.from(values, (value) => quoted(value ?? "")).join(",");
}

// Column of a cell such as `AB12`, from 0.
function columnOf(reference, otherwise) {
  const letters = /^([A-Z]{1,3})[0-9]+$/.exec(reference ?? "")?.[1];
  return letters ? [...letters].reduce((place, letter) => place * 26 + letter.charCodeAt(0) - 64, 0) - 1 : otherwise;
}

function valueOf(cell, { shared, dates, day0 }) {
  const kind = attribute(cell, "t") ?? "n";
  const stored = plain(all(cell.body, "v")[0]?.body ?? "");
  if (kind === "inlineStr") return textOf(cell);
  if (kind === "s") return shared[Number(stored)] ?? "";
  if (kind === "b") return { 0: "no", 1: "yes" }[stored] ?? stored;
  if (kind !== "n" || stored === "" || !dates.has(attribute(cell, "s"))) return stored;
  return new Date(day0 + Math.round(Number(stored) * 86_400) * (DAY_MS / 86_400))
    .toISOString()
    .replace(/T00:00:00\.000Z$/, "")
    .replace(/\.000Z$/, "");
}

function quoted(value) {
  const line = value.replace(/\s*[\r\n]+\s*/g, " ");
  return /[",;\t]/.test(line) ? `"${line.replaceAll('"', '""')}"` : line;
}
