"""Pictures painted as arrays of pixels."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from casino_env.drawing import SIGN_POLYGONS, Box, Label, Picture, Sign

SAMPLES = 2  # a pixel is the mean of so many squared
_ANCHORS = {"left": "ls", "middle": "ms"}


def paint(picture: Picture) -> NDArray[np.uint8]:
    """The picture as uint8[height, width, 3] (red, green, blue)."""
    size = picture.width, picture.height
    image = Image.new("RGB", (size[0] * SAMPLES, size[1] * SAMPLES), picture.ground)
    canvas = ImageDraw.Draw(image)
    for shape in picture.shapes:
        match shape:
            case Box():
                _paint_box(canvas, shape)
            case Sign():
                _paint_sign(canvas, shape)
            case Label():
                _paint_label(canvas, shape)
    return np.array(image.resize(size, Image.Resampling.BOX))


def _paint_box(canvas: ImageDraw.ImageDraw, box: Box) -> None:
    corners = (box.x, box.y, box.x + box.width, box.y + box.height)
    canvas.rounded_rectangle(
        tuple(SAMPLES * corner for corner in corners),
        SAMPLES * box.radius,
        box.fill,
        box.edge,
        max(1, round(SAMPLES * box.edge_width)),
    )


def _paint_sign(canvas: ImageDraw.ImageDraw, sign: Sign) -> None:
    for polygon in SIGN_POLYGONS[sign.suit]:
        points = ((sign.x + sign.size * x, sign.y + sign.size * y) for x, y in polygon)
        canvas.polygon([(SAMPLES * x, SAMPLES * y) for x, y in points], sign.fill)


def _paint_label(canvas: ImageDraw.ImageDraw, label: Label) -> None:
    """Pillow's own font has one weight: bold letters get a thin outline."""
    place = SAMPLES * label.x, SAMPLES * label.y
    font, anchor = ImageFont.load_default(SAMPLES * label.size), _ANCHORS[label.anchor]
    outline = SAMPLES * label.size / 40 if label.bold else 0
    canvas.text(place, label.text, label.fill, font, anchor, stroke_width=outline)
