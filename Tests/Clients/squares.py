"""Draws the picture that the IIIF validator expects: 10 × 10 squares of the colours that it knows. Usage: squares.py FILE"""

import sys

from iiif_validator.validator import ValidationInfo
from PIL import Image, ImageDraw

picture = Image.new("RGB", (1000, 1000))
draw = ImageDraw.Draw(picture)
for x, column in enumerate(ValidationInfo().colorInfo):
    for y, color in enumerate(column):
        draw.rectangle([x * 100, y * 100, x * 100 + 99, y * 100 + 99], fill=color)
picture.save(sys.argv[1])
