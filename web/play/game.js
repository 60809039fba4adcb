// What the page knows of its league and of its person, and what it remembers in localStorage.

import {League} from './model.js';

export const IDENTITY = 'league-player:page';
const NAME = 'league-player:name';

export const league = new League(true);
/** The stage is one of SCENES (scenes.js); what else is here, they need. */
export const state = {
  stage: 'form',
  playerId: null,
  match: null,
  sealed: null,
  result: null,
  proof: null,
  fault: '',
  isOnline: true,
};

function remembered(key) {
  try {
    return localStorage.getItem(key) ?? '';
  } catch {
    return ''; // a browser that keeps nothing
  }
}

/** The name that the person gave last. */
export const lastName = () => remembered(NAME);

/** False where the browser keeps nothing for this page. */
export function rememberName(name) {
  try {
    localStorage.setItem(NAME, name);
    return true;
  } catch {
    return false;
  }
}

/** Whether this browser has a seat in the league that is shown, or in any while none is. */
export function hasSeat() {
  try {
    const kept = JSON.parse(remembered(IDENTITY) || '{}');
    return Boolean(kept.me?.auth_token) && kept.me.league_id === (league.head?.id ?? kept.me.league_id);
  } catch {
    return false;
  }
}

/** The code of an invitation link, `/play#code=...`: a fragment is sent to nobody. It then leaves the address. */
function takeCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get('code') ?? '';
  if (location.hash) history.replaceState(null, '', location.pathname);
  return code;
}

export const invited = takeCode();
