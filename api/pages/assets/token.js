// Comfort on top of a page that is complete without it: copy buttons, and parts that fill in.
"use strict";

const FIRST_WAIT_MS = 1000;
const MOST_TRIES = 60;

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
});

function showCopyButtons() {
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll("button[data-copy]")) button.hidden = false;
}

// What the reader has opened stays open when a newer page takes the place of this one.
function openParts(root) {
  return new Set([...root.querySelectorAll("details[open] > summary")].map((one) => one.textContent));
}

async function fillIn(tries) {
  const shown = document.getElementById("token");
  if (!shown || !shown.dataset.pending || tries >= MOST_TRIES) return;
  await new Promise((done) => { setTimeout(done, Math.min(FIRST_WAIT_MS * (1 + tries / 4), 5000)); });
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (answer.ok) {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const newer = page.getElementById("token");
      if (newer) {
        const open = openParts(shown);
        for (const summary of newer.querySelectorAll("details > summary")) {
          summary.parentElement.open = open.has(summary.textContent);
        }
        shown.replaceWith(newer);
        document.title = page.title;
        showCopyButtons();
      }
    }
  } catch {
    // The service may be restarting: the next try will tell.
  }
  fillIn(tries + 1);
}

showCopyButtons();
fillIn(0);
