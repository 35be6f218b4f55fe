// All messages of the console, one file per area. The first part of a key names its area: no two files
// share one. A message is its key with the English and the Chinese text.
import accounts from "./accounts.js";
import catalogs from "./catalogs.js";
import chart from "./chart.js";
import compare from "./compare.js";
import evidence from "./evidence.js";
import operator from "./operator.js";
import page from "./page.js";
import result from "./result.js";
import scan from "./scan.js";
import sql from "./sql.js";
import watchlists from "./watchlists.js";

export default { ...accounts, ...catalogs, ...chart, ...compare, ...evidence, ...operator, ...page, ...result, ...scan, ...sql, ...watchlists };
