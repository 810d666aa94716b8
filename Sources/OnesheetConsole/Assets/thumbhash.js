// Decodes a ThumbHash (Evan Wallace, https://evanw.github.io/thumbhash/) and paints it.

function decode(hash) {
  const header24 = hash[0] | (hash[1] << 8) | (hash[2] << 16);
  const header16 = hash[3] | (hash[4] << 8);
  const lDC = (header24 & 63) / 63;
  const pDC = ((header24 >> 6) & 63) / 31.5 - 1;
  const qDC = ((header24 >> 12) & 63) / 31.5 - 1;
  const lScale = ((header24 >> 18) & 31) / 31;
  const hasAlpha = header24 >> 23;
  const pScale = ((header16 >> 3) & 63) / 63;
  const qScale = ((header16 >> 9) & 63) / 63;
  const isLandscape = header16 >> 15;
  const lx = Math.max(3, isLandscape ? (hasAlpha ? 5 : 7) : header16 & 7);
  const ly = Math.max(3, isLandscape ? header16 & 7 : hasAlpha ? 5 : 7);
  const aDC = hasAlpha ? (hash[5] & 15) / 15 : 1;
  const aScale = (hash[5] >> 4) / 15;
  const start = hasAlpha ? 6 : 5;
  let index = 0;
  const channel = (nx, ny, scale) => {
    const ac = [];
    for (let cy = 0; cy < ny; cy++) {
      for (let cx = cy ? 0 : 1; cx * ny < nx * (ny - cy); cx++) {
        ac.push((((hash[start + (index >> 1)] >> ((index++ & 1) << 2)) & 15) / 7.5 - 1) * scale);
      }
    }
    return ac;
  };
  const lAC = channel(lx, ly, lScale);
  const pAC = channel(3, 3, pScale * 1.25);
  const qAC = channel(3, 3, qScale * 1.25);
  const aAC = hasAlpha ? channel(5, 5, aScale) : [];
  const ratio = (isLandscape ? (hasAlpha ? 5 : 7) : header16 & 7) / (isLandscape ? header16 & 7 : hasAlpha ? 5 : 7);
  const width = Math.round(ratio > 1 ? 32 : 32 * ratio);
  const height = Math.round(ratio > 1 ? 32 / ratio : 32);
  // The cosines of each column and row.
  const cosines = (count, length) => Array.from({ length: count }, (_, at) =>
    Array.from({ length }, (_, n) => Math.cos((Math.PI / count) * (at + 0.5) * n)));
  const columns = cosines(width, Math.max(lx, hasAlpha ? 5 : 3));
  const rows = cosines(height, Math.max(ly, hasAlpha ? 5 : 3));
  const pixels = new Uint8ClampedArray(width * height * 4);
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i += 4) {
      let [l, p, q, a] = [lDC, pDC, qDC, aDC];
      const [fx, fy] = [columns[x], rows[y]];
      for (let cy = 0, j = 0; cy < ly; cy++) {
        for (let cx = cy ? 0 : 1; cx * ly < lx * (ly - cy); cx++, j++) l += lAC[j] * fx[cx] * fy[cy] * 2;
      }
      for (let cy = 0, j = 0; cy < 3; cy++) {
        for (let cx = cy ? 0 : 1; cx < 3 - cy; cx++, j++) {
          p += pAC[j] * fx[cx] * fy[cy] * 2;
          q += qAC[j] * fx[cx] * fy[cy] * 2;
        }
      }
      for (let cy = 0, j = 0; hasAlpha && cy < 5; cy++) {
        for (let cx = cy ? 0 : 1; cx < 5 - cy; cx++, j++) a += aAC[j] * fx[cx] * fy[cy] * 2;
      }
      const b = l - (2 / 3) * p;
      const r = (3 * l - b + q) / 2;
      pixels.set([255 * r, 255 * (r - q), 255 * b, 255 * a], i);
    }
  }
  return new ImageData(pixels, width, height);
}

/** A canvas that shows the placeholder; nothing if the text is not a ThumbHash. */
export function placeholder(text) {
  let picture;
  try {
    picture = decode(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
  } catch {
    return null;
  }
  const canvas = document.createElement("canvas");
  canvas.className = "thumb";
  canvas.setAttribute("aria-hidden", "true");
  [canvas.width, canvas.height] = [picture.width, picture.height];
  canvas.getContext("2d").putImageData(picture, 0, 0);
  return canvas;
}
