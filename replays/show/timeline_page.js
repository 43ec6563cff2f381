'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const KINDS = data.kinds, ARROWS = ['request', 'reply', 'refusal', 'cancel', 'closed', 'reset'];
// A mark as the file has it: lane, depth, kind, failed, at, until (null: an instant), place, until's place, text.
const LANE = 0, DEPTH = 1, KIND = 2, FAILED = 3, AT = 4, UNTIL = 5, PLACE = 6, UNTIL_PLACE = 7, TEXT = 8;
const marks = data.marks, arrows = data.arrows, count = marks.length;
const canvas = $('canvas'), ctx = canvas.getContext('2d'), view = $('view');
const GUTTER = 150, ROW = 18, AXIS = 24, MAP = 34, HEAD = 20, CHAR = 6.05;
const FONT = '10.5px ui-monospace, "DejaVu Sans Mono", monospace', BOLD = '600 12px system-ui, sans-serif';
let colour = {};

// Positions -------------------------------------------------------------------------------------------------------------
const startTime = new Float64Array(count), endTime = new Float64Array(count);
const startPlace = new Float64Array(count), endPlace = new Float64Array(count);
const isSlice = new Uint8Array(count), lower = new Array(count);
let endOfTime = 0, endOfPlaces = 1;
const moments = [];  // [place, time], to find the place of a message
marks.forEach((m, i) => {
  isSlice[i] = m[UNTIL] === null ? 0 : 1;
  startTime[i] = m[AT]; endTime[i] = isSlice[i] ? m[UNTIL] : m[AT];
  startPlace[i] = m[PLACE]; endPlace[i] = isSlice[i] ? Math.max(m[UNTIL_PLACE], m[PLACE] + .5) : m[PLACE];
  lower[i] = (data.texts[m[TEXT]] || '').toLowerCase();
  moments.push([m[PLACE], m[AT]]);
  if (isSlice[i]) moments.push([m[UNTIL_PLACE], m[UNTIL]]);
  endOfTime = Math.max(endOfTime, endTime[i]); endOfPlaces = Math.max(endOfPlaces, endPlace[i] + 1);
});
moments.sort((a, b) => a[0] - b[0]);
for (const a of arrows) endOfTime = Math.max(endOfTime, a[4], a[5] === null ? 0 : a[5]);
const lastMoment = endOfTime;
if (endOfTime === 0) endOfTime = 1e-3;
function placeOf(time) {
  let low = 0, high = moments.length;
  while (low < high) { const mid = (low + high) >> 1; if (moments[mid][1] <= time) low = mid + 1; else high = mid; }
  if (low === 0) return 0;
  const [p, t] = moments[low - 1];
  if (low === moments.length) return p + .5;
  const [q, u] = moments[low];
  return p + (q - p) * (u > t ? (time - t) / (u - t) : .5);
}
const sent = [new Float64Array(arrows.length), new Float64Array(arrows.length)];
const arrived = [new Float64Array(arrows.length), new Float64Array(arrows.length)];
const arrivedBy = [new Float64Array(arrows.length), new Float64Array(arrows.length)];  // the latest up to here
arrows.forEach((a, i) => {
  const lost = a[5] === null;
  sent[0][i] = a[4]; sent[1][i] = placeOf(a[4]);
  arrived[0][i] = lost ? a[4] : a[5]; arrived[1][i] = lost ? sent[1][i] : placeOf(a[5]);
  for (const by of [0, 1]) arrivedBy[by][i] = Math.max(arrived[by][i], i ? arrivedBy[by][i - 1] : 0);
});
// Rows: the marks of one lane and depth, in order; they do not overlap.
const rows = data.lanes.map(lane => Array.from({length: lane[2]}, () => []));
marks.forEach((m, i) => rows[m[LANE]][m[DEPTH]].push(i));
const proof = new Map();
data.findings.forEach((f, n) => f.witness.forEach((i, k) => { if (!proof.has(i)) proof.set(i, [n, k]); }));
const proofs = [...proof.keys()].sort((a, b) => a - b);
// What led to it, as the file has it: time, kind, text, mark, arrow. Of each mark and arrow: [finding, place in its chain].
const CAUSE_MARK = 3, CAUSE_ARROW = 4;
const cause = new Map(), causeArrow = new Map();
data.findings.forEach((f, n) => f.why.forEach((c, k) => {
  if (c[CAUSE_MARK] !== null && !cause.has(c[CAUSE_MARK])) cause.set(c[CAUSE_MARK], [n, k]);
  if (c[CAUSE_ARROW] !== null && !causeArrow.has(c[CAUSE_ARROW])) causeArrow.set(c[CAUSE_ARROW], [n, k]);
}));
const causes = [...cause.keys()].sort((a, b) => a - b);

// What is shown ---------------------------------------------------------------------------------------------------------
const kindOn = KINDS.map(() => true), nodeOn = data.nodes.map(() => true);
let messagesOn = true, byOrder = false, left = 0, right = 1, scroll = 0, chosen = -1, hits = [], isHit = new Uint8Array(count), query = '';
let width = 0, height = 0, layout = [], anchors = [], contentHeight = 0, drawn = 0, drawnArrows = 0, asked = false;
const S = () => byOrder ? startPlace : startTime, E = () => byOrder ? endPlace : endTime;
const span = () => byOrder ? endOfPlaces : endOfTime;
const X = v => GUTTER + (v - left) / (right - left) * (width - GUTTER);
const V = x => left + (x - GUTTER) / (width - GUTTER) * (right - left);
const nodeOf = i => data.lanes[marks[i][LANE]][0];
const shown = i => kindOn[marks[i][KIND]] && (nodeOf(i) < 0 || nodeOn[nodeOf(i)]);
const textOf = i => data.texts[marks[i][TEXT]];
// On its lane: without the lane's name, and what it lasts for is no beginning.
const shortOf = i => {
  const lane = data.lanes[marks[i][LANE]][1] + ' ', text = textOf(i);
  return lane.startsWith('hook ') && text.startsWith(lane) ? text.slice(lane.length) : isSlice[i] ? text.replace(' begins', '') : text;
};
const seconds = t => t === 0 ? '0 s' : Math.abs(t) < .9995e-3 ? (t * 1e6).toFixed(1) + ' µs' : Math.abs(t) < 1 ? +(t * 1e3).toFixed(3) + ' ms' : +t.toFixed(6) + ' s';

function arrange() {
  layout = []; anchors = data.nodes.map(() => -1);
  let y = 4, node = -2;
  data.lanes.forEach((lane, l) => {
    if (lane[0] >= 0 && !nodeOn[lane[0]]) return;
    if (lane[0] !== node) {
      node = lane[0];
      y += 5;
      layout.push({head: true, node, y, h: HEAD});
      if (node >= 0) anchors[node] = y + HEAD / 2;
      y += HEAD;
    }
    layout.push({lane: l, node, y, h: lane[2] * ROW + 3});
    y += lane[2] * ROW + 3;
  });
  contentHeight = y + 6;
}
function clampView() {
  const all = span(), least = byOrder ? 4 : Math.max(all * 1e-9, 1e-9);
  let size = Math.min(Math.max(right - left, least), all * 1.04);
  const middle = (left + right) / 2;
  left = middle - size / 2; right = left + size;
  const margin = all * .02;
  if (left < -margin) { right += -margin - left; left = -margin; }
  if (right > all + margin) { left -= right - all - margin; right = all + margin; }
  scroll = Math.max(0, Math.min(scroll, contentHeight - (height - AXIS - MAP)));
}
function fit() { left = -span() * .01; right = span() * 1.01; redraw(); }
function redraw() { if (!asked) { asked = true; requestAnimationFrame(() => { asked = false; draw(); }); } }

// The first of a row that ends at or behind `value`.
function firstFrom(row, value) {
  const ends = E();
  let low = 0, high = row.length;
  while (low < high) { const mid = (low + high) >> 1; if (ends[row[mid]] < value) low = mid + 1; else high = mid; }
  return low;
}
const weight = i => (proof.has(i) || cause.has(i) ? 8 : 0) + (isHit[i] ? 4 : 0) + (marks[i][KIND] === 7 || marks[i][KIND] === 11 ? 2 : 0) + (marks[i][FAILED] ? 1 : 0);

function label(text, x, y, room) {
  const fits = Math.floor(room / CHAR);
  if (fits >= 3) ctx.fillText(text.length > fits ? text.slice(0, fits - 1) + '…' : text, x, y);
}
function drawRow(row, y, halos) {
  const starts = S(), ends = E();
  let lastNarrow = -1, pending = null;  // instants of one place on the screen
  const flush = until => {
    if (!pending) return;
    const {x, top, n} = pending;
    ctx.fillStyle = colour[KINDS[marks[top][KIND]]];
    ctx.beginPath(); ctx.moveTo(x, y + 3); ctx.lineTo(x + 5, y + 9); ctx.lineTo(x, y + 15); ctx.lineTo(x - 5, y + 9); ctx.fill();
    if (marks[top][FAILED]) { ctx.strokeStyle = colour.bad; ctx.lineWidth = 1.6; ctx.stroke(); }
    ctx.fillStyle = marks[top][FAILED] ? colour.bad : colour.text;
    label((n > 1 ? '×' + n + ' ' : '') + (n === 1 || weight(top) > 0 ? shortOf(top) : ''), x + 8, y + 13, until - x - 16);
    pending = null;
  };
  for (let k = firstFrom(row, left); k < row.length; ++k) {
    const i = row[k];
    if (starts[i] > right) { if (pending) flush(Math.min(X(starts[i]), pending.x + 400)); return; }
    if (!kindOn[marks[i][KIND]]) continue;
    ++drawn;
    const x = X(starts[i]), w = X(ends[i]) - x;
    if (proof.has(i) || cause.has(i) || isHit[i] || i === chosen) halos.push([i, Math.max(x, GUTTER), y, Math.max(Math.min(X(ends[i]), width) - Math.max(x, GUTTER), 0)]);
    if (isSlice[i] && w >= 3) {
      flush(x);
      const x0 = Math.max(x, GUTTER - 4), w0 = Math.min(x + w, width + 4) - x0;
      ctx.fillStyle = colour[KINDS[marks[i][KIND]]];
      ctx.beginPath(); ctx.roundRect(x0, y + 1.5, Math.max(w0 - 1, 1), ROW - 4, 3); ctx.fill();
      if (marks[i][FAILED]) { ctx.strokeStyle = colour.bad; ctx.lineWidth = 2; ctx.stroke(); }
      ctx.fillStyle = marks[i][KIND] < 2 ? colour.text : '#fff';
      label(shortOf(i), Math.max(x0 + 5, GUTTER + 5), y + 13, Math.min(x0 + w0, width) - Math.max(x0, GUTTER) - 9);
      continue;
    }
    if (isSlice[i] && weight(i) === 0) {  // too narrow for a text
      if (Math.round(x) === lastNarrow) continue;
      flush(x);
      lastNarrow = Math.round(x);
      ctx.fillStyle = colour[KINDS[marks[i][KIND]]];
      ctx.fillRect(x, y + 2, 2, ROW - 5);
      continue;
    }
    if (pending && x - pending.x < 4) {
      ++pending.n;
      if (weight(i) > weight(pending.top)) pending.top = i;
      continue;
    }
    flush(x);
    pending = {x, top: i, n: 1};
  }
  flush(width);
}
function drawArrows() {
  drawnArrows = 0;
  if (!messagesOn) return;
  const by = byOrder ? 1 : 0, out = sent[by], back = arrived[by], latest = arrivedBy[by];
  let low = 0, high = arrows.length;
  while (low < high) { const mid = (low + high) >> 1; if (latest[mid] < left) low = mid + 1; else high = mid; }
  // Of many, those that would lie on each other are one line, without a head.
  let last = arrows.length;
  for (let from = low; from < last;) { const mid = (from + last) >> 1; if (out[mid] <= right) from = mid + 1; else last = mid; }
  const many = last - low, grain = many > 6000 ? 4 : many > 1500 ? 2 : 1;
  const seen = new Set(), paths = new Map();
  for (let i = low; i < last; ++i) {
    const a = arrows[i];
    if (back[i] < left || anchors[a[0]] < 0 || anchors[a[1]] < 0) continue;
    const x0 = X(out[i]), x1 = X(back[i]), lost = a[5] === null, bad = lost || a[2] > 1;
    const key = ((Math.round(x0 / grain) * 4096 + Math.round((x1 - x0) / grain)) * 64 + a[0]) * 64 + a[1];
    if (!bad && seen.has(key)) continue;
    seen.add(key);
    ++drawnArrows;
    const style = bad ? 'bad' : a[2] === 1 ? 'reply' : 'request';
    if (!paths.has(style)) paths.set(style, new Path2D());
    const path = paths.get(style), y0 = anchors[a[0]] - scroll + AXIS + MAP, y1 = anchors[a[1]] - scroll + AXIS + MAP;
    const xe = lost ? x0 + 12 : x1, ye = lost ? y0 + (y1 - y0) * .3 : y1;
    path.moveTo(x0, y0); path.lineTo(xe, ye);
    if (lost) { path.moveTo(xe - 4, ye - 4); path.lineTo(xe + 4, ye + 4); path.moveTo(xe + 4, ye - 4); path.lineTo(xe - 4, ye + 4); continue; }
    const long = Math.hypot(x1 - x0, y1 - y0);
    if (long < 8 || grain > 2) continue;
    const ux = (x1 - x0) / long, uy = (y1 - y0) / long;
    path.moveTo(x1 - 6 * ux - 3 * uy, y1 - 6 * uy + 3 * ux); path.lineTo(x1, y1); path.lineTo(x1 - 6 * ux + 3 * uy, y1 - 6 * uy - 3 * ux);
  }
  const dense = drawnArrows > 1500 ? .2 : drawnArrows > 300 ? .35 : .8;
  for (const [style, path] of paths) {
    ctx.globalAlpha = style === 'bad' ? .9 : style === 'reply' ? dense * .75 : dense;
    ctx.strokeStyle = style === 'bad' ? colour.bad : style === 'reply' ? colour.call : colour.message;
    ctx.lineWidth = style === 'bad' ? 1.4 : 1;
    ctx.stroke(path);
  }
  ctx.globalAlpha = 1;
}
// The messages of the chains, whether the others are shown or not.
function drawCauses() {
  const by = byOrder ? 1 : 0;
  ctx.strokeStyle = colour.cause; ctx.lineWidth = 3;
  for (const k of causeArrow.keys()) {
    const a = arrows[k];
    if (anchors[a[0]] < 0 || anchors[a[1]] < 0 || arrived[by][k] < left || sent[by][k] > right) continue;
    const y0 = anchors[a[0]] - scroll + AXIS + MAP, y1 = anchors[a[1]] - scroll + AXIS + MAP, lost = a[5] === null;
    ctx.beginPath(); ctx.moveTo(X(sent[by][k]), y0);
    ctx.lineTo(lost ? X(sent[by][k]) + 12 : X(arrived[by][k]), lost ? y0 + (y1 - y0) * .3 : y1); ctx.stroke();
  }
}
function drawAcross() {
  // Faults go through all lanes, recoveries through those of their node.
  const starts = S(), ends = E(), top = AXIS + MAP;
  layout.forEach(item => {
    if (item.head) return;
    for (const row of rows[item.lane]) {
      for (let k = firstFrom(row, left); k < row.length && starts[row[k]] <= right; ++k) {
        const i = row[k], kind = marks[i][KIND];
        if ((kind !== 7 && kind !== 11) || !kindOn[kind]) continue;
        const fault = kind === 11 && item.node < 0;
        if (kind === 11 && !fault) continue;
        const x = X(starts[i]);
        const group = fault ? layout : layout.filter(other => other.node === item.node);
        const y0 = fault ? top : group[0].y - scroll + top, y1 = fault ? height : group[group.length - 1].y + group[group.length - 1].h - scroll + top;
        ctx.fillStyle = ctx.strokeStyle = colour[KINDS[kind]];
        if (isSlice[i]) { ctx.globalAlpha = .07; ctx.fillRect(x, y0, Math.max(X(ends[i]) - x, 1), y1 - y0); }
        ctx.globalAlpha = fault ? .55 : .45; ctx.lineWidth = 1; ctx.setLineDash(fault ? [5, 4] : [2, 3]);
        ctx.beginPath(); ctx.moveTo(x, y0); ctx.lineTo(x, y1); ctx.stroke();
        ctx.setLineDash([]); ctx.globalAlpha = 1;
      }
    }
  });
}
function drawHalos(halos) {
  for (const [i, x, y, w] of halos) {
    if (isHit[i]) { ctx.strokeStyle = colour.mark; ctx.lineWidth = 2; ctx.strokeRect(x - 6, y, Math.max(w, 0) + 12, ROW - 1); }
    if (i === chosen) { ctx.strokeStyle = colour.text; ctx.lineWidth = 1.5; ctx.strokeRect(x - 7.5, y - 1.5, Math.max(w, 0) + 15, ROW + 2); }
    if (cause.has(i)) {
      ctx.strokeStyle = colour.cause; ctx.lineWidth = 2.5;
      ctx.beginPath(); ctx.roundRect(x - 10, y - 3, Math.max(w, 0) + 20, ROW + 5, 7); ctx.stroke();
    }
    if (!proof.has(i)) continue;
    ctx.globalAlpha = .9; ctx.strokeStyle = colour.mark; ctx.lineWidth = 3;
    ctx.beginPath(); ctx.roundRect(x - 8, y - 1, Math.max(w, 0) + 16, ROW + 1, 6); ctx.stroke();
    ctx.fillStyle = colour.mark; ctx.beginPath(); ctx.arc(x - 8, y, 7.5, 0, 7); ctx.fill();
    ctx.globalAlpha = 1; ctx.fillStyle = '#201400'; ctx.font = '700 10px system-ui, sans-serif'; ctx.textAlign = 'center';
    ctx.fillText(proof.get(i)[1] + 1, x - 8, y + 3.5); ctx.textAlign = 'left'; ctx.font = FONT;
  }
}
function drawAxis() {
  ctx.fillStyle = colour.soft; ctx.fillRect(0, 0, width, AXIS + MAP);
  // All of it, as a density, with what is in view.
  const x = v => GUTTER + v / span() * (width - GUTTER), h = MAP - 8;
  if (!drawAxis.map || drawAxis.key !== width + '/' + byOrder) {
    drawAxis.key = width + '/' + byOrder;
    drawAxis.map = new Uint32Array(Math.max(1, Math.ceil(width)));
    for (let i = 0; i < count; ++i) ++drawAxis.map[Math.min(drawAxis.map.length - 1, Math.max(0, Math.floor(x(S()[i]))))];
  }
  const most = Math.log1p(drawAxis.map.reduce((a, b) => Math.max(a, b), 0)) || 1;
  ctx.fillStyle = colour.session;
  drawAxis.map.forEach((n, px) => { if (n) { const bar = Math.log1p(n) / most * h; ctx.fillRect(px, MAP - 3 - bar, 1, bar); } });
  for (let i = 0; i < count; ++i) {
    const kind = marks[i][KIND];
    if (!proof.has(i) && kind !== 7 && !(kind === 11 && nodeOf(i) < 0)) continue;
    ctx.fillStyle = proof.has(i) ? colour.mark : colour[KINDS[kind]]; ctx.fillRect(x(S()[i]) - 1, 3, 2, MAP - 6);
  }
  const a = Math.max(x(left), GUTTER), b = Math.min(x(right), width);
  ctx.strokeStyle = colour.text; ctx.globalAlpha = .5; ctx.lineWidth = 1; ctx.strokeRect(a + .5, 2.5, Math.max(b - a - 1, 2), MAP - 5); ctx.globalAlpha = 1;
  const rough = (right - left) / Math.max(2, (width - GUTTER) / 110), power = Math.pow(10, Math.floor(Math.log10(rough)));
  let step = [1, 2, 5, 10].map(n => n * power).find(n => n >= rough);
  if (byOrder) step = Math.max(1, Math.round(step));
  ctx.fillStyle = colour.dim; ctx.strokeStyle = colour.line; ctx.lineWidth = 1; ctx.font = FONT;
  for (let n = Math.max(0, Math.ceil(left / step)); n * step <= Math.min(right, span()); ++n) {
    const px = Math.round(X(n * step)) + .5;
    if (px < GUTTER) continue;
    ctx.beginPath(); ctx.moveTo(px, MAP); ctx.lineTo(px, height); ctx.stroke();
    ctx.fillText(byOrder ? '#' + (n * step + 1) : seconds(+(n * step).toPrecision(12)), px + 3, MAP + 15);
  }
  ctx.beginPath(); ctx.moveTo(0, AXIS + MAP - .5); ctx.lineTo(width, AXIS + MAP - .5); ctx.stroke();
}
function drawGutter() {
  const top = AXIS + MAP;
  ctx.save(); ctx.beginPath(); ctx.rect(0, top, GUTTER, height - top); ctx.clip();
  ctx.fillStyle = colour.bg; ctx.fillRect(0, top, GUTTER, height);
  for (const item of layout) {
    const y = item.y - scroll + top;
    if (item.head) {
      ctx.fillStyle = colour.soft; ctx.fillRect(0, y, GUTTER, item.h);
      ctx.fillStyle = colour.text; ctx.font = BOLD; ctx.fillText(item.node < 0 ? 'the plan' : data.nodes[item.node], 10, y + 14);
    } else {
      ctx.fillStyle = colour.dim; ctx.font = FONT; label(data.lanes[item.lane][1], 20, y + 13, GUTTER - 24);
    }
  }
  ctx.restore();
  ctx.strokeStyle = colour.line; ctx.beginPath(); ctx.moveTo(GUTTER - .5, 0); ctx.lineTo(GUTTER - .5, height); ctx.stroke();
  ctx.fillStyle = colour.dim; ctx.font = FONT; ctx.fillText(byOrder ? 'order of events' : 'virtual time', 10, MAP + 15);
}
function draw() {
  clampView();
  drawn = 0;
  ctx.fillStyle = colour.bg; ctx.fillRect(0, 0, width, height);
  ctx.font = FONT; ctx.textBaseline = 'alphabetic';
  drawAxis();
  const top = AXIS + MAP, halos = [];
  ctx.save(); ctx.beginPath(); ctx.rect(GUTTER, top, width - GUTTER, height - top); ctx.clip();
  for (const item of layout) {
    const y = item.y - scroll + top;
    if (item.head && y < height && y + item.h > top) { ctx.fillStyle = colour.soft; ctx.fillRect(GUTTER, y, width, item.h); }
  }
  drawAcross();
  drawArrows();
  drawCauses();
  for (const item of layout) {
    if (item.head) continue;
    rows[item.lane].forEach((row, depth) => {
      const y = item.y + depth * ROW - scroll + top;
      if (y < height && y + ROW > top) drawRow(row, y, halos);
    });
  }
  drawHalos(halos);
  ctx.restore();
  drawGutter();
  drawList();
}

// The list: the marks from the left edge on, as many as there is room for ---------------------------------------------------
let listFirst = 0;
function drawList() {
  const list = $('list'), room = Math.max(1, Math.floor((list.clientHeight - 4) / 18)), starts = S();
  let low = 0, high = count;
  while (low < high) { const mid = (low + high) >> 1; if (starts[mid] < left) low = mid + 1; else high = mid; }
  if (chosen >= 0 && starts[chosen] >= left && starts[chosen] <= right) low = Math.max(0, chosen - (room >> 1));
  listFirst = low;
  const made = [];
  for (let i = low; i < count && made.length < room; ++i) {
    if (!shown(i)) continue;
    const line = document.createElement('div'), box = document.createElement('i');
    box.style.background = colour[KINDS[marks[i][KIND]]];
    const where = data.nodes.length > 1 && nodeOf(i) >= 0 ? data.nodes[nodeOf(i)] + ' ' : '';
    line.append(box, marks[i][AT].toFixed(3) + ' ' + where + textOf(i));
    line.title = textOf(i);
    if (marks[i][FAILED]) line.classList.add('bad');
    if (i === chosen) line.classList.add('chosen');
    if (proof.has(i)) line.classList.add('proof');
    if (cause.has(i)) line.classList.add('cause');
    if (isHit[i]) line.classList.add('hit');
    line.onclick = () => choose(i, true);
    made.push(line);
  }
  list.replaceChildren(...made);
}
const describe = i => {
  const lane = data.lanes[marks[i][LANE]], m = marks[i];
  return [textOf(i), `${lane[0] < 0 ? 'the plan' : data.nodes[lane[0]]}, ${lane[1]}; ${KINDS[m[KIND]]}`,
    `at ${seconds(m[AT])}` + (m[UNTIL] === null ? '' : `, lasts ${seconds(m[UNTIL] - m[AT])}`) + `; number ${m[PLACE] + 1}` + (m[UNTIL] === null ? '' : ` to ${m[UNTIL_PLACE] + 1}`)]
    .concat(proof.has(i) ? ['proves ' + data.findings[proof.get(i)[0]].rule] : [])
    .concat(cause.has(i) ? ['led to ' + data.findings[cause.get(i)[0]].rule] : []);
};
const describeArrow = k => {
  const a = arrows[k];
  return [`${data.texts[a[3]] || 'connection'} ${ARROWS[a[2]]}`, `${data.nodes[a[0]]} to ${data.nodes[a[1]]}`,
    `sent at ${seconds(a[4])}, ` + (a[5] === null ? 'never arrived' : `arrived ${seconds(a[5] - a[4])} later`)]
    .concat(causeArrow.has(k) ? ['led to ' + data.findings[causeArrow.get(k)[0]].rule] : []);
};
// To a link of a chain: its mark, or its message, or its time.
function goTo(link) {
  if (link[CAUSE_MARK] !== null) return choose(link[CAUSE_MARK], true);
  if (link[CAUSE_ARROW] !== null) tell($('chosen'), describeArrow(link[CAUSE_ARROW]));
  const v = byOrder ? placeOf(link[0]) : link[0], size = right - left;
  if (v < left || v > right) { left = v - size / 2; right = left + size; }
  redraw();
}
function tell(element, lines) {
  element.replaceChildren(...lines.map((text, n) => { const p = document.createElement('div'); p.textContent = text; if (n === 0) p.style.fontWeight = 600; else p.className = 'dim'; return p; }));
}
function choose(i, move) {
  chosen = i;
  if (i < 0) { tell($('chosen'), ['nothing: click on a mark']); redraw(); return; }
  tell($('chosen'), describe(i));
  if (move) {
    const v = S()[i], size = right - left;
    if (v < left + size * .05 || v > right - size * .15) { left = v - size * .3; right = left + size; }
    const item = layout.find(each => each.lane === marks[i][LANE]), room = height - AXIS - MAP;
    if (item && (item.y < scroll || item.y + item.h > scroll + room)) scroll = item.y - room / 3;
  }
  redraw();
}
function nextOf(list, step) {
  if (!list.length) return;
  let k = step > 0 ? list.findIndex(i => i > chosen) : list.findLastIndex(i => i < chosen);
  if (k < 0) k = step > 0 ? 0 : list.length - 1;
  choose(list[k], true);
}
function search(text) {
  query = text.trim().toLowerCase();
  hits = []; isHit = new Uint8Array(count);
  if (query) for (let i = 0; i < count; ++i) if (shown(i) && lower[i].includes(query)) { hits.push(i); isHit[i] = 1; }
  $('hits').textContent = query ? hits.length + ' found' : '';
  redraw();
}
function markAt(x, y) {
  const inside = y - AXIS - MAP + scroll, item = layout.find(each => inside >= each.y && inside < each.y + each.h);
  if (!item || x < GUTTER) return null;
  if (item.head) {
    if (!messagesOn) return null;
    let best = null, near = 6;
    const by = byOrder ? 1 : 0;
    for (let k = 0; k < arrows.length; ++k) {
      if (sent[by][k] > right) break;
      const a = arrows[k];
      for (const [node, v] of [[a[0], sent[by][k]], [a[1], arrived[by][k]]]) {
        const off = Math.abs(X(v) - x);
        if (node === item.node && off < near) { near = off; best = {arrow: k}; }
      }
    }
    return best;
  }
  const row = rows[item.lane][Math.floor((inside - item.y) / ROW)];
  if (!row) return null;
  let best = null, near = 7;
  for (let k = firstFrom(row, V(x - 8)); k < row.length && S()[row[k]] <= V(x + 8); ++k) {
    const i = row[k], x0 = X(S()[i]), x1 = X(E()[i]), off = x < x0 ? x0 - x : x > x1 ? x - x1 : 0;
    if (kindOn[marks[i][KIND]] && off < near) { near = off; best = {mark: i}; }
  }
  return best;
}

// Hands -----------------------------------------------------------------------------------------------------------------
function zoom(factor, x = (width + GUTTER) / 2) {
  const v = V(Math.max(x, GUTTER));
  left = v - (v - left) * factor; right = v + (right - v) * factor;
  redraw();
}
function pan(part) { const by = (right - left) * part; left += by; right += by; redraw(); }
function switchAxis() {
  const old = S(), middle = (left + right) / 2;
  let at = 0;
  for (let i = 0; i < count; ++i) if (Math.abs(old[i] - middle) < Math.abs(old[at] - middle)) at = i;
  const part = (right - left) / span();
  byOrder = !byOrder;
  $('axis').textContent = byOrder ? 'axis: order' : 'axis: time';
  const size = span() * part, v = count ? S()[at] : 0;
  left = v - size / 2; right = v + size / 2;
  redraw();
}
let drag = null;
const spot = e => { const box = canvas.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; };
canvas.onpointerdown = e => {
  const [x, y] = spot(e);
  drag = {x, y, left, right, scroll, moved: false, map: y < MAP};
  try { canvas.setPointerCapture(e.pointerId); } catch { /* a pointer that is not there */ }
  if (drag.map) toMap(x);
};
function toMap(x) { const v = (x - GUTTER) / (width - GUTTER) * span(), half = (right - left) / 2; left = v - half; right = v + half; redraw(); }
canvas.onpointermove = e => {
  const [x, y] = spot(e), tip = $('tip');
  if (drag) {
    if (Math.hypot(x - drag.x, y - drag.y) > 3) { drag.moved = true; canvas.classList.add('drag'); }
    if (drag.map) return toMap(x);
    const by = (x - drag.x) / (width - GUTTER) * (drag.right - drag.left);
    left = drag.left - by; right = drag.right - by; scroll = drag.scroll - (y - drag.y);
    redraw();
    return;
  }
  const found = markAt(x, y);
  tip.style.display = found ? 'block' : 'none';
  if (!found) return;
  tell(tip, 'mark' in found ? describe(found.mark) : describeArrow(found.arrow));
  tip.style.left = Math.min(x + 14, Math.max(0, width - tip.offsetWidth - 6)) + 'px';
  tip.style.top = Math.min(y + 16, Math.max(0, height - tip.offsetHeight - 6)) + 'px';
};
canvas.onpointerup = e => {
  const was = drag;
  drag = null; canvas.classList.remove('drag'); view.focus({preventScroll: true});
  if (!was || was.moved || was.map) return;
  const found = markAt(...spot(e));
  if (found && 'arrow' in found) tell($('chosen'), describeArrow(found.arrow)); else choose(found ? found.mark : -1, false);
};
canvas.onpointerleave = () => { $('tip').style.display = 'none'; };
canvas.ondblclick = e => {
  const found = markAt(...spot(e));
  if (!found || !('mark' in found) || !isSlice[found.mark]) return zoom(.3, spot(e)[0]);
  const a = S()[found.mark], b = E()[found.mark];
  left = a - (b - a) * .05; right = b + (b - a) * .05; redraw();
};
canvas.addEventListener('wheel', e => {
  e.preventDefault();
  const [x] = spot(e), tall = contentHeight > height - AXIS - MAP;
  if (e.ctrlKey || e.metaKey || (!tall && !e.shiftKey && Math.abs(e.deltaY) > Math.abs(e.deltaX))) return zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) * .006), x);
  if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) return pan((e.deltaX || e.deltaY) / (width - GUTTER));
  scroll += e.deltaY; redraw();
}, {passive: false});
const all = marks.map((m, i) => i), trouble = all.filter(i => marks[i][KIND] === 7 || marks[i][KIND] === 11);
const keys = {
  ArrowLeft: () => pan(-.15), a: () => pan(-.15), ArrowRight: () => pan(.15), d: () => pan(.15),
  ArrowUp: () => { scroll -= 40; redraw(); }, ArrowDown: () => { scroll += 40; redraw(); },
  '+': () => zoom(.7), '=': () => zoom(.7), w: () => zoom(.7), '-': () => zoom(1.43), s: () => zoom(1.43), 0: fit, o: switchAxis,
  m: () => toggleMessages(), n: () => nextOf(all.filter(shown), 1), p: () => nextOf(all.filter(shown), -1), f: () => nextOf(proofs, 1),
  c: () => nextOf(causes, 1),
  r: () => nextOf(trouble, 1), '/': () => $('find').focus(), '?': () => $('keys').showModal(),
  Escape: () => { $('find').value = ''; search(''); choose(-1); },
};
document.addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey || $('keys').open) return;
  if (e.target === $('find')) {
    if (e.key === 'Enter') nextOf(hits, e.shiftKey ? -1 : 1);
    if (e.key === 'Escape') { keys.Escape(); view.focus(); }
    return;
  }
  if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
});
$('find').oninput = () => search($('find').value);
$('axis').onclick = switchAxis; $('fit').onclick = fit; $('help').onclick = keys['?'];

function chip(parent, name, css, onclick) {
  const button = document.createElement('button');
  if (css) { const box = document.createElement('i'); box.style.background = `var(--${css})`; button.append(box); }
  button.append(name);
  button.onclick = () => { const on = onclick(); button.classList.toggle('off', !on); button.setAttribute('aria-pressed', on); };
  parent.append(button, ' ');
  return button;
}
let messageChip = null;
function toggleMessages() { if (messageChip) messageChip.click(); }
function colours() {
  const style = getComputedStyle(document.documentElement);
  colour = {};
  for (const name of ['bg', 'soft', 'line', 'text', 'dim', 'mark', 'cause', 'bad', 'message', ...KINDS]) colour[name] = style.getPropertyValue('--' + name).trim();
}
function size() {
  const scale = window.devicePixelRatio || 1;
  width = view.clientWidth; height = view.clientHeight;
  canvas.width = Math.round(width * scale); canvas.height = Math.round(height * scale);
  ctx.setTransform(scale, 0, 0, scale, 0, 0);
  draw();  // at once: the canvas has just been emptied
}
function begin() {
  document.title = 'vigil: ' + data.id;
  $('id').textContent = data.id; $('title').textContent = data.title; $('end').textContent = data.end + (data.findings.length ? `, ${data.findings.length} broken` : '');
  $('end').className = data.findings.length || !data.end.startsWith('played') ? 'bad' : 'dim';
  $('counts').textContent = `${count} marks` + (arrows.length ? `, ${arrows.length} messages` : '') +
    (data.left_out ? ` (the first; ${data.left_out} more are left out)` : '') + `, ${seconds(lastMoment)}`;
  const used = new Set(marks.map(m => m[KIND]));
  KINDS.forEach((kind, k) => { if (used.has(k)) chip($('kinds'), kind, kind, () => { kindOn[k] = !kindOn[k]; search(query); return kindOn[k]; }); });
  if (arrows.length) messageChip = chip($('kinds'), 'messages', 'message', () => { messagesOn = !messagesOn; redraw(); return messagesOn; });
  if (data.nodes.length > 1) data.nodes.forEach((node, n) => chip($('nodes'), node, '', () => { nodeOn[n] = !nodeOn[n]; arrange(); search(query); return nodeOn[n]; }));
  for (const finding of data.findings) {
    if (!$('findings').firstChild) { const head = document.createElement('h2'); head.textContent = 'What was broken'; $('findings').append(head); }
    const box = document.createElement('div'), rule = document.createElement('b'), text = document.createElement('pre');
    box.className = 'finding'; rule.textContent = finding.rule; text.textContent = finding.text;
    box.append(rule, text); box.onclick = () => { if (finding.witness.length) choose(finding.witness[finding.witness.length - 1], true); };
    for (const link of finding.why) {
      const line = document.createElement('div');
      line.className = 'why'; line.textContent = `${link[0].toFixed(3)}  ${link[1].padEnd(8)}  ${link[2]}`;
      line.onclick = e => { e.stopPropagation(); goTo(link); };
      box.append(line);
    }
    $('findings').append(box);
  }
  colours();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { colours(); redraw(); });
  // Where the clock hardly moves, time says little.
  byOrder = new Set(startTime).size < count / 3 && data.nodes.length < 2;
  $('axis').textContent = byOrder ? 'axis: order' : 'axis: time';
  arrange();
  left = -span() * .01; right = span() * 1.01;
  // x.html#from=4.5&to=5 opens at that part of the axis.
  const wanted = new URLSearchParams(location.hash.slice(1)), from = parseFloat(wanted.get('from')), to = parseFloat(wanted.get('to'));
  if (from < to) { left = from; right = to; }
  new ResizeObserver(size).observe(view);
  size();
  choose(-1);
  if (proofs.length) choose(proofs[proofs.length - 1], false);
}

// For tests: x.html#selfcheck says in the document whether what is drawn is what is there, and how long it takes.
function selfCheck() {
  const bad = [];
  height = Math.max(height, contentHeight + AXIS + MAP);  // no lane is out of view
  left = -span() * .01; right = span() * 1.01;
  draw();
  if (drawn !== count) bad.push(`drew ${drawn} of ${count} marks in view`);
  for (const mode of [false, true]) {
    byOrder = mode;
    for (const row of rows.flat()) for (let k = 1; k < row.length; ++k) if (E()[row[k - 1]] > S()[row[k]]) bad.push(`marks ${row[k - 1]} and ${row[k]} overlap`);
    for (let n = 0; n < 40; ++n) {
      const a = span() * n / 41, b = a + span() / (n + 2);
      left = a; right = b; draw();
      let expected = 0;
      for (let i = 0; i < count; ++i) if (E()[i] >= left && S()[i] <= right) ++expected;
      if (drawn !== expected) bad.push(`drew ${drawn} instead of ${expected} marks`);
    }
  }
  const begun = performance.now();
  for (let n = 0; n < 20; ++n) { byOrder = false; left = span() * n / 100; right = span() * (1 - n / 50); draw(); }
  const each = (performance.now() - begun) / 20;
  left = -span() * .01; right = span() * 1.01; size(); draw();
  const pixels = ctx.getImageData(0, 0, canvas.width, canvas.height).data;
  const empty = 4 * (canvas.width * (canvas.height - 2) + 2);  // under the names of the lanes
  let painted = 0;
  for (let p = 0; p < pixels.length; p += 4) if (pixels[p] !== pixels[empty] || pixels[p + 1] !== pixels[empty + 1] || pixels[p + 2] !== pixels[empty + 2]) ++painted;
  document.body.dataset.painted = (400 * painted / pixels.length).toFixed(1);  // percent
  document.body.dataset.check = bad.length ? 'wrong: ' + bad.slice(0, 3).join('; ') : 'right';
  document.body.dataset.marks = count; document.body.dataset.drawn = drawn; document.body.dataset.arrows = drawnArrows;
  document.body.dataset.frame = each.toFixed(2) + 'ms';
}
begin();
if (location.hash === '#selfcheck') selfCheck();
