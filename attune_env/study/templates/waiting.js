"use strict";
// Looks whether the reply is there, and shows the page anew as soon as it is. Without this script, the page
// loads itself again every few seconds.
const place = document.querySelector("[data-ready]");
async function look() {
  try {
    const answer = await fetch(place.dataset.ready, { cache: "no-store" });
    if (answer.ok && (await answer.json()).ready) {
      // no reload, after which the next page would be scrolled as far as this one was
      location.replace(`${location.pathname}?${Date.now()}#now`);
      return;
    }
  } catch {
    // the server may be starting again: look once more
  }
  setTimeout(look, 1000);
}
setTimeout(look, 500);
