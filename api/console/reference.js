// The API reference page in English or Chinese. The service sends the description in the chosen
// language; the fixed labels of the vendored page are translated here.
"use strict";

const LABELS = {
  Parameters: "参数",
  "No parameters": "无参数",
  Name: "名称",
  Description: "说明",
  Responses: "响应",
  "Response body": "响应体",
  "Response headers": "响应头",
  "Server response": "服务器响应",
  Code: "状态码",
  Details: "详情",
  "Headers:": "响应头：",
  Type: "类型",
  "Request Duration": "耗时",
  Links: "链接",
  "No links": "无链接",
  "Media type": "媒体类型",
  "Example Value": "示例",
  Schema: "结构",
  Schemas: "数据结构",
  "Request body": "请求体",
  "Request URL": "请求地址",
  Curl: "Curl 命令",
  Authorize: "授权",
  "Available authorizations": "可用的授权方式",
  Close: "关闭",
  Logout: "注销",
  "Value:": "值：",
  "Try it out": "试一试",
  Cancel: "取消",
  Execute: "执行",
  Clear: "清除",
  Reset: "重置",
  Download: "下载",
  Loading: "加载中",
  "Controls ": "控制 ",
  required: "必填",
  "Expand all": "全部展开",
  "Collapse all": "全部收起",
};
const TITLES = { en: "HTTP interface", zh: "HTTP 接口" };
const CHINESE = "zh";

function chosenLanguage() {
  const asked = new URLSearchParams(location.search).get("lang");
  if (asked in TITLES) return asked;
  return navigator.language.toLowerCase().startsWith(CHINESE) ? CHINESE : "en";
}

function translateLabels(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    const label = LABELS[text.data];
    if (label && !text.parentElement.closest("code, pre, textarea, option")) text.data = label;
  }
}

function showBar(language) {
  document.documentElement.lang = language;
  document.title = `Sametrack · ${TITLES[language]}`;
  document.getElementById("what").textContent = TITLES[language];
  for (const link of document.querySelectorAll("#languages a")) {
    if (link.lang === language) link.setAttribute("aria-current", "true");
    link.addEventListener("click", () => {
      link.href = `?lang=${link.lang}${location.hash}`;
    });
  }
}

const language = chosenLanguage();
const page = document.getElementById("reference");
showBar(language);
if (language === CHINESE) {
  new MutationObserver(() => translateLabels(page)).observe(page, {
    childList: true,
    subtree: true,
    characterData: true,
  });
}
SwaggerUIBundle({
  url: `/openapi.json?lang=${language}`,
  domNode: page,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  persistAuthorization: false,
  tryItOutEnabled: false,
  validatorUrl: null,
});
