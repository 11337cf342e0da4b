'use strict';
(() => {
  const all = (q, from) => Array.from((from || document).querySelectorAll(q));

  // Tabs: without this script both pages stand below each other.
  const tabs = all('.tabs button');
  const show = (id) => tabs.forEach((b) => {
    const on = b.getAttribute('aria-controls') === id;
    b.setAttribute('aria-selected', on);
    b.tabIndex = on ? 0 : -1;
    document.getElementById(b.getAttribute('aria-controls')).hidden = !on;
  });
  tabs.forEach((b, i) => {
    b.addEventListener('click', () => show(b.getAttribute('aria-controls')));
    b.addEventListener('keydown', (e) => {
      const d = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!d) return;
      const next = tabs[(i + d + tabs.length) % tabs.length];
      show(next.getAttribute('aria-controls'));
      next.focus();
    });
  });
  if (tabs.length) {
    document.querySelector('.tabs').hidden = false;
    show(tabs[0].getAttribute('aria-controls'));
  }

  // Heat: a digit of data-h for each choice.
  const heat = document.getElementById('heat');
  const paint = () => all('tr[data-h]').forEach((r) => {
    for (let i = 1; i <= 9; i++) r.classList.remove('h' + i);
    const d = r.dataset.h[heat.value];
    if (d > 0) r.classList.add('h' + d);
  });
  if (heat) {
    heat.addEventListener('change', paint);
    paint();
  }

  // Lines of the source and of PTX that belong together.
  const groups = new Map();
  all('.pane tr[data-g]').forEach((r) => {
    if (!groups.has(r.dataset.g)) groups.set(r.dataset.g, []);
    groups.get(r.dataset.g).push(r);
  });
  const mark = (name, g) => {
    all('tr.' + name).forEach((r) => r.classList.remove(name));
    (groups.get(g) || []).forEach((r) => r.classList.add(name));
  };
  const reveal = (row) => {
    const pane = row.closest('.pane');
    const at = row.offsetTop;
    if (at < pane.scrollTop + 30 || at + row.offsetHeight > pane.scrollTop + pane.clientHeight) {
      pane.scrollTop = at - pane.clientHeight / 2;
    }
  };
  const choose = (row) => {
    mark('pin', row.dataset.g);
    const other = (groups.get(row.dataset.g) || []).find((r) => r.closest('.pane') !== row.closest('.pane'));
    if (other) reveal(other);
  };
  const current = (pane, row) => {
    all('tr.cur', pane).forEach((r) => r.classList.remove('cur'));
    row.classList.add('cur');
    reveal(row);
    mark('lit', row.dataset.g);
  };
  all('.pane').forEach((pane) => {
    const rowOf = (e) => e.target.closest && e.target.closest('tr[data-g]');
    pane.addEventListener('mouseover', (e) => { const r = rowOf(e); mark('lit', r ? r.dataset.g : ''); });
    pane.addEventListener('mouseleave', () => mark('lit', ''));
    pane.addEventListener('click', (e) => { const r = rowOf(e); if (r) choose(r); });
    pane.addEventListener('keydown', (e) => {
      const rows = all('tr[data-l]', pane);
      const at = rows.findIndex((r) => r.classList.contains('cur'));
      const d = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[e.key];
      if (d && rows.length) {
        e.preventDefault();
        current(pane, rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + d))]);
      } else if (e.key === 'Enter' && at >= 0 && rows[at].dataset.g) {
        e.preventDefault();
        choose(rows[at]);
      }
    });
  });

  // Links to a line show and pin it.
  const arrive = () => {
    const row = document.getElementById(location.hash.slice(1));
    if (!row) return;
    const page = row.closest('[role="tabpanel"]');
    if (page) show(page.id);
    const pane = row.closest('.pane');
    if (pane) {
      current(pane, row);
      if (row.dataset.g) choose(row);
      pane.scrollIntoView({ block: 'nearest' });
      pane.focus({ preventScroll: true });
    }
  };
  window.addEventListener('hashchange', arrive);
  if (location.hash) arrive();

  // Sorting.
  all('table.sort th').forEach((th) => {
    const b = document.createElement('button');
    b.type = 'button';
    b.textContent = th.textContent;
    th.replaceChildren(b);
    b.addEventListener('click', () => {
      const up = th.getAttribute('aria-sort') === 'descending';
      all('th', th.parentNode).forEach((x) => x.removeAttribute('aria-sort'));
      th.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      const body = th.closest('table').tBodies[0];
      const value = (r) => r.cells[th.cellIndex].dataset.v || r.cells[th.cellIndex].textContent;
      const rows = Array.from(body.rows);
      rows.sort((a, c) => {
        const x = value(a), y = value(c), n = x - y;
        return (Number.isNaN(n) ? x.localeCompare(y) : n) * (up ? 1 : -1);
      });
      body.replaceChildren(...rows);
    });
  });
})();
