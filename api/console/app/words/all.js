// All words of the console, from one file per area of it. A key's first part says which area; no
// first part stands in two files. A word is its key, the English and the Chinese.
import chart from "./chart.js";
import evidence from "./evidence.js";
import operator from "./operator.js";
import page from "./page.js";
import people from "./people.js";
import result from "./result.js";
import scan from "./scan.js";
import watch from "./watch.js";

export default { ...chart, ...evidence, ...operator, ...page, ...people, ...result, ...scan, ...watch };
