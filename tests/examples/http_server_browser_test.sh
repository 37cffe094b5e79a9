#!/usr/bin/env bash
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Loads a page with a browser: http_server_browser_test.sh <http_server>. Exits with 77 where there is no Chromium.
for name in chromium-headless-shell chromium chromium-browser google-chrome; do
  browser=$(command -v "$name") && break
done
[ -n "$browser" ] || exit 77
source "$(dirname "$0")/server.sh"

# A page that is complete once its style, its script, an image and what the script fetches have come: a part of a file, and a file that
# is not there.
mkdir "$work/served"
echo 'body { --from-style: "styled"; }' >"$work/served/style.css"
cat >"$work/served/picture.svg" <<'END'
<svg xmlns="http://www.w3.org/2000/svg" width="7" height="5"></svg>
END
head -c 100000 /dev/zero | tr '\0' 'x' >"$work/served/large.txt"
cat >"$work/served/script.js" <<'END'
addEventListener("load", async () => {
  const style = getComputedStyle(document.body).getPropertyValue("--from-style").trim();
  const picture = document.querySelector("img").naturalWidth;
  const part = await fetch("large.txt", { headers: { Range: "bytes=10-19" } });
  const missing = await fetch("missing");
  const all = await Promise.all([...Array(20).keys()].map(async i => (await (await fetch("large.txt?" + i)).text()).length));
  document.title = [style, picture, part.status, await part.text(), missing.status, new Set(all).size, all[0]].join(" ");
});
END
cat >"$work/served/index.html" <<'END'
<!doctype html><html><head><title>not yet</title><link rel="stylesheet" href="style.css"><script src="script.js"></script></head>
<body><img src="picture.svg"></body></html>
END
serve "$1" "$work/served" 0 60000

page=$("$browser" --headless --no-sandbox --disable-gpu --no-proxy-server --user-data-dir="$work/profile" \
  --virtual-time-budget=60000 --dump-dom "$url/" 2>"$work/said") || fail "the browser: $(tail -5 "$work/said")"
[[ "$page" = *'<title>"styled" 7 206 xxxxxxxxxx 404 1 100000</title>'* ]] || fail "the page is $page"

endServer TERM
echo passed
