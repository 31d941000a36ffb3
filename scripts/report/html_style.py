"""How the page looks, and the script of its search, whose hash the page's policy names. Neither holds anything of a log."""
import base64
import hashlib

STYLE = """
:root { color-scheme: light dark; --text: #1c1e21; --dim: #5f6670; --page: #fff; --panel: #f5f6f7; --line: #d9dce0;
  --red: #b3122a; --bad: #ffd9dc; --memory: #7ba7d7; --kernel: #e0a84f; --good: #4c9a6a; --fenced: #2f7d6d;
  --pool: #83b49a; --grey: #a9afb7; --native: #8c6d6d; --bare: #a98f8f; --mapping: #c4bcbc; --overflow: #c0392b;
  --underflow: #d9822b; --freed: #7d4bb0; --free: #b0478f; --api: #2f78c0; --leak: #4f8f8b; --fault: #20242a; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e3e5e8; --dim: #9aa1ab; --page: #15171a; --panel: #1f2226; --line: #363b42; --red: #ff8088;
    --bad: #5d2129; --memory: #4d7cb0; --kernel: #b98432; --good: #4c9a6a; --fenced: #2f7d6d; --pool: #3f6b55;
    --grey: #666d76; --native: #8f6d6d; --bare: #6f5a5a; --mapping: #4f4646; --overflow: #e8675a;
    --underflow: #e09a4f; --freed: #a57bd6; --free: #d072b0; --api: #5c9fe0; --leak: #6bb3ae; --fault: #d5d9de; }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 0 auto; padding: 1.2rem 1rem 4rem;
  color: var(--text); background: var(--page); overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; }
header h1 { font-size: 1rem; font-weight: 600; color: var(--dim); margin: 0; }
h2 { font-size: 1.15rem; margin: 0 0 .3rem; }
h3 { font-size: .95rem; margin: 1.4rem 0 .3rem; }
p { margin: .4rem 0; }
a { color: inherit; text-decoration-color: var(--grey); }
.lead { font-size: 1.6rem; line-height: 1.3; margin: .3rem 0; }
.lead + p { font-size: 1.1rem; }
section { border-top: 1px solid var(--line); padding-top: 1.1rem; margin-top: 1.6rem; }
code, pre, td.m, .m, .bytes { font-family: ui-monospace, monospace; font-size: 13px; }
pre { overflow-x: auto; background: var(--panel); padding: .5rem; margin: .3rem 0; white-space: pre-wrap; }
table { border-collapse: collapse; margin: .3rem 0 .8rem; }
td, th { padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top; }
th { font-weight: 600; color: var(--dim); }
.scroll { overflow-x: auto; }
.scroll td, .scroll th { overflow-wrap: normal; }
summary { cursor: pointer; }
.where, .red { color: var(--red); }
.dim { color: var(--dim); }
.small { font-size: 13px; }
.columns { display: grid; grid-template-columns: 1fr 1fr; gap: 0 2.5rem; }
.columns > * { min-width: 0; }
dl { display: grid; grid-template-columns: 6.5rem 1fr; gap: .15rem .6rem; margin: .4rem 0; }
dt { color: var(--dim); }
dd { margin: 0; }
ol.groups { list-style: none; padding: 0; margin: .4rem 0; }
ol.groups li { margin: 0; padding: .35rem 0; border-bottom: 1px solid var(--line); }
ul { padding-left: 1.2rem; margin: .3rem 0; }
input { font: inherit; padding: .25rem .5rem; width: 100%; max-width: 22rem; color: inherit; background: var(--panel);
  border: 1px solid var(--line); border-radius: 4px; }
.chip::before, .key::before { content: ""; display: inline-block; width: .7em; height: .7em; border-radius: 2px;
  margin-right: .4em; background: var(--grey); }
.mark { font-weight: 600; }
.link { text-decoration: none; color: var(--grey); }
.c-heap-buffer-overflow::before { background: var(--overflow); }
.c-heap-buffer-underflow::before { background: var(--underflow); }
.c-use-after-free::before { background: var(--freed); }
.c-double-free::before, .c-invalid-free::before { background: var(--free); }
.c-api-out-of-bounds::before { background: var(--api); }
.c-leak::before { background: var(--leak); }
.c-post-mortem::before, .c-gpu-fault::before { background: var(--fault); }
.k-fenced::before { background: var(--fenced); }
.k-guarded::before { background: var(--good); }
.k-pool::before { background: var(--pool); }
.k-native::before { background: var(--native); }
.k-bare::before { background: var(--bare); }
.k-mapping::before { background: var(--mapping); }
.k-other::before { background: var(--line); }
.k-kernel::before { background: var(--kernel); }
.k-window::before { background: var(--red); opacity: .35; }
.k-unknown::before { background: repeating-linear-gradient(135deg, var(--grey) 0 2px, transparent 2px 4px); }
.f0 { fill: #e9c07a; }
.f1 { fill: #e5ad66; }
.f2 { fill: #dd9a58; }
.keys { display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; list-style: none; padding: 0; font-size: 13px; }
svg { display: block; width: 100%; }
svg text { font: 12px system-ui, sans-serif; fill: var(--text); }
svg .over { fill: #111; }
.allocated { fill: var(--memory); }
.freed { fill: none; stroke: var(--grey); }
.kernel { fill: var(--kernel); }
.unknown { fill: url(#hatch); }
.hatch { stroke: var(--grey); stroke-width: 2; }
.window { fill: var(--red); fill-opacity: .25; }
.edge { stroke: var(--red); stroke-width: 2; }
.fenced { fill: var(--fenced); }
.guarded { fill: var(--good); }
.pool { fill: var(--pool); }
.native { fill: var(--native); }
.bare { fill: var(--bare); }
.mapping { fill: var(--mapping); }
.other { fill: var(--line); }
.row { display: grid; grid-template-columns: 15rem 1fr; gap: 0 .8rem; align-items: center; min-height: 20px;
  font-size: 13px; line-height: 1.25; }
.row > * { min-width: 0; }
.row .n { text-align: right; }
.heat .row { grid-template-columns: 12rem 1fr 3rem; }
.heat svg { background: var(--panel); }
.short { display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; }
.stack { width: 100%; table-layout: fixed; }
.stack td:first-child { width: 4rem; }
.stack td:nth-child(2) { width: 32%; }
ol { padding-left: 1.4rem; }
li { margin: .2rem 0; }
.keys li { margin: 0; }
details details { margin: .2rem 0 .6rem; }
.row.head { color: var(--dim); margin-top: .4rem; }
.row.head svg { background: none; }
.heat .row, .uses .row { margin-bottom: 2px; }
.h1 { fill: #f3b9b2; }
.h2 { fill: #e58378; }
.h3 { fill: #cc4a3c; }
.h4 { fill: #8e1d12; }
@media (prefers-color-scheme: dark) {
  .h1 { fill: #5c2a28; }
  .h2 { fill: #8f3a34; }
  .h3 { fill: #cc5a4c; }
  .h4 { fill: #ff9d8f; }
}
.matrix td { padding: .1rem .5rem; text-align: center; border: 1px solid var(--line); font-size: 13px; }
.matrix td.m { text-align: left; border: 0; }
.matrix th { padding: .1rem .5rem; text-align: center; }
.matrix .some { background: var(--panel); }
.matrix .all { background: var(--bad); font-weight: 600; }
.strip { display: flex; margin: .4rem 0; font-size: 13px; line-height: 1.3; }
.strip > div { padding: .35rem .4rem; border: 1px solid var(--line); flex: 2; min-width: 0; }
.strip > .buffer { background: var(--memory); color: #111; flex: 5; }
.strip > .gap { flex: 1.4; color: var(--dim); background: repeating-linear-gradient(135deg, transparent 0 5px,
  var(--panel) 5px 8px); }
.strip > .guard { background: var(--panel); }
.strip > .hit { outline: 2px solid var(--red); outline-offset: -2px; z-index: 1; }
.strip b { display: block; }
.bytes td, .bytes th { padding: 0 .45rem 0 0; white-space: nowrap; }
.strip > .hit div:last-child { font-weight: 600; }
.bad { background: var(--bad); }
.source { white-space: pre; }
.source b { background: var(--bad); }
@media (max-width: 640px) {
  body { padding: .8rem .7rem 3rem; }
  .lead { font-size: 1.15rem; }
  .columns, .row { grid-template-columns: 1fr; }
  .columns > * + * { margin-top: 1.2rem; }
  .heat .row { grid-template-columns: 7.2rem 1fr 2rem; gap: 0 .4rem; }
  .row { margin-bottom: .3rem; }
  .heat .row { margin-bottom: 2px; }
  td, th { padding-right: .5rem; }
  .strip { flex-direction: column; }
  .stack td:first-child { width: 3.9rem; }
  .stack td:nth-child(2) { width: 30%; }
  .matrix td, .matrix th { padding: .1rem .3rem; }
  .bytes td, .bytes th { padding-right: .25rem; font-size: 12px; }
}
"""

# What does not hold the word is hidden. Without a script there is no field to type into, and all is there.
SCRIPT = """
const field = document.getElementById("search");
field.hidden = false;
field.addEventListener("input", () => {
  const word = field.value.toLowerCase();
  for (const one of document.querySelectorAll(".find")) one.hidden = !one.textContent.toLowerCase().includes(word);
});
"""

HASH = "sha256-" + base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
