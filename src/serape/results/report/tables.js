// Sorts tables, and changes between light and dark. All reports have it; those with a graph also graph.js and page.js.

const byId = (id) => document.getElementById(id);

// --- tables ------------------------------------------------------------------------------------------------------

function sort(head) {
  const table = head.closest("table");
  const column = [...head.parentNode.children].indexOf(head);
  const ascending = head.getAttribute("aria-sort") !== "ascending";
  const number = head.classList.contains("number");
  const key = (row) => (row.children[column].dataset.order === "" ? row.children[column].textContent : row.children[column].dataset.order);
  const rows = [...table.tBodies[0].rows];
  const compare = (a, b) => (number || isNumeric ? Number(a) - Number(b) : a.localeCompare(b, undefined, { numeric: true }));
  const isNumeric = rows.every((row) => key(row) === undefined || !Number.isNaN(Number(key(row))));
  rows.sort((one, other) => {
    const [a, b] = [key(one), key(other)];
    if (a === undefined || b === undefined) return (a === undefined) - (b === undefined); // unknown values come last
    return ascending ? compare(a, b) : compare(b, a);
  });
  for (const other of head.parentNode.querySelectorAll("[aria-sort]")) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  table.tBodies[0].append(...rows);
}

for (const button of document.querySelectorAll(".sortable thead button")) {
  button.addEventListener("click", () => sort(button.closest("th")));
}

// --- colours -----------------------------------------------------------------------------------------------------

const theme = byId("theme");
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme || (prefersDark.matches ? "dark" : "light")) === "dark";
const showTheme = () => {
  theme.textContent = isDark() ? "Light" : "Dark";
  theme.setAttribute("aria-label", `${theme.textContent} colours`);
};
theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  showTheme();
});
prefersDark.addEventListener("change", showTheme);
showTheme();
