"use strict";
(function () {
  const root = document.documentElement;

  // light or dark: what the system asks for, until somebody chooses
  const button = document.getElementById("theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const stored = function (value) {
    try {
      if (value === undefined) return window.localStorage.getItem("attune-theme");
      window.localStorage.setItem("attune-theme", value);
    } catch (error) { /* a page opened from a file may have no storage */ }
    return null;
  };
  const theme = function () { return root.dataset.theme || (dark.matches ? "dark" : "light"); };
  const label = function () { button.textContent = theme() === "dark" ? "Light page" : "Dark page"; };
  const known = stored();
  if (known === "dark" || known === "light") root.dataset.theme = known;
  if (button) {
    button.hidden = false;
    button.addEventListener("click", function () {
      root.dataset.theme = theme() === "dark" ? "light" : "dark";
      stored(root.dataset.theme);
      label();
    });
    dark.addEventListener("change", label);
    label();
  }

  // tables: sorted by a column, filtered by words
  const said = document.getElementById("said");
  const say = function (text) { if (said) said.textContent = text; };
  const order = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const key = function (row, column) {
    const cell = row.cells[column];
    if (cell.dataset.undefined !== undefined) return null;
    return cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);
  };
  const compare = function (a, b) {
    return typeof a === "number" && typeof b === "number" ? a - b : order.compare(String(a), String(b));
  };
  const sort = function (table, head, column) {
    const before = head.getAttribute("aria-sort");
    const first = head.classList.contains("number") ? "descending" : "ascending";
    const second = first === "ascending" ? "descending" : "ascending";
    const now = before === first ? second : first;
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, function (row, place) { return { row: row, key: key(row, column), place: place }; });
    rows.sort(function (a, b) {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.place - b.place;
      return (now === "ascending" ? compare(a.key, b.key) : compare(b.key, a.key)) || a.place - b.place;
    });
    rows.forEach(function (item) { body.appendChild(item.row); });
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", now);
    say("sorted by " + head.textContent.trim() + ", " + now);
  };
  document.querySelectorAll("table.sortable").forEach(function (table) {
    Array.from(table.tHead.rows[0].cells).forEach(function (head, column) {
      const control = document.createElement("button");
      control.type = "button";
      control.textContent = head.textContent;
      head.textContent = "";
      head.appendChild(control);
      control.addEventListener("click", function () { sort(table, head, column); });
    });
  });
  document.querySelectorAll("input[data-filters]").forEach(function (input) {
    const rows = Array.from(document.getElementById(input.dataset.filters).tBodies[0].rows);
    const texts = rows.map(function (row) {
      return (row.textContent + " " + (row.dataset.search || "")).toLowerCase();
    });
    const count = document.getElementById(input.dataset.filters + "-count");
    input.closest(".filter").hidden = false;
    input.addEventListener("input", function () {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach(function (row, i) {
        row.hidden = !words.every(function (word) { return texts[i].includes(word); });
        shown += row.hidden ? 0 : 1;
      });
      count.textContent = words.length ? shown + " of " + rows.length : "";
    });
  });

  // a link into folded numbers opens them; paper shows everything
  const open = function () {
    let target = null;
    try { target = document.getElementById(decodeURIComponent(window.location.hash.slice(1))); } catch (error) { return; }
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  };
  window.addEventListener("hashchange", open);
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (one) { one.open = true; });
  });
  const contents = document.querySelector("nav.contents details");
  if (contents && window.matchMedia("(min-width: 70rem)").matches) contents.open = true;
  open();
})();
