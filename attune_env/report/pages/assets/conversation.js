(function () {
  // one model's answers, or everybody's
  const choice = document.getElementById("model");
  if (!choice) return;
  document.getElementById("choose").hidden = false;
  choice.addEventListener("change", function () {
    const only = choice.value === "" ? null : Number(choice.value);
    document.querySelectorAll("table[data-models]").forEach(function (table) {
      const models = Number(table.dataset.models);
      for (const row of table.rows) {
        const first = row.cells.length - models;
        for (let i = 0; i < models; i++) row.cells[first + i].hidden = only !== null && i !== only;
      }
    });
    document.querySelectorAll("[data-model]").forEach(function (one) {
      one.hidden = only !== null && Number(one.dataset.model) !== only;
    });
  });
})();
