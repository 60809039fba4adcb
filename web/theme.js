/** Light or dark: what the reader has chosen with the button, else what the system prefers, as the page says. */
export function followTheme(button, dark) {
  const system = matchMedia(dark.media);
  let chosen = null;
  try {
    chosen = localStorage.getItem('theme');
  } catch {
    /* a browser that keeps nothing */
  }
  const show = () => {
    if (chosen) dark.media = chosen === 'dark' ? 'all' : 'not all';
  };
  button.addEventListener('click', () => {
    chosen = (chosen ?? (system.matches ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark';
    show();
    try {
      localStorage.setItem('theme', chosen);
    } catch {
      /* it lasts as long as the page */
    }
  });
  show();
}
