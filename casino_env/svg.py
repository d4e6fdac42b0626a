"""Pictures as SVG texts, for notebooks and pages.

Colours are written as attributes, so that any viewer shows them; a style sheet exchanges some of them where
the reader prefers a dark page.
"""

from collections.abc import Iterator, Mapping
from html import escape

from casino_env.drawing import SIGN_POLYGONS, Box, Label, Picture, Shape, Sign

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
CLASS = "casino-table"
_ANCHORS = {"left": "start", "middle": "middle"}


def to_svg(picture: Picture, title: str, dark: Mapping[str, str]) -> str:
    """The picture by itself. `title` is what a screen reader says, `dark` the colours of a dark page."""
    head = f"<title>{escape(title)}</title><style>{dark_style(dark)}</style><defs>{sign_symbols()}</defs>"
    return _element(picture, 'role="img"', f"width:100%;max-width:{picture.width}px;", head)


def to_inner_svg(picture: Picture) -> str:
    """The picture for a page that holds `sign_symbols` and `dark_style` once for all of its pictures."""
    return _element(picture, 'aria-hidden="true"', "", "")


def sign_symbols() -> str:
    """The signs of the suits, to which pictures refer."""
    return "".join(
        f'<symbol id="{_sign_id(suit)}" viewBox="0 0 1 1"><path d="{_path(suit)}"/></symbol>'
        for suit in SIGN_POLYGONS
    )


def dark_style(dark: Mapping[str, str]) -> str:
    """Rules of CSS that exchange colours where the reader prefers a dark page."""
    rules = "".join(
        f'.{CLASS} [{part}="{light}"]{{{part}:{colour}}}'
        for light, colour in dark.items()
        for part in ("fill", "stroke")
    )
    return f"@media (prefers-color-scheme:dark){{{rules}}}"


def _element(picture: Picture, attributes: str, style: str, head: str) -> str:
    width, height = picture.width, picture.height
    ground = f'<rect width="{width}" height="{height}" rx="12" fill="{picture.ground}"/>'
    shapes = "".join(part for shape in picture.shapes for part in _write(shape))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{CLASS}" viewBox="0 0 {width} {height}" '
        f'style="{style}" font-family="{FONT}" {attributes}>{head}{ground}{shapes}</svg>'
    )


def _write(shape: Shape) -> Iterator[str]:
    match shape:
        case Box():
            inset = shape.edge_width / 2  # as in `raster`, the edge lies within the box
            size = f'width="{_number(shape.width - 2 * inset)}" height="{_number(shape.height - 2 * inset)}"'
            edge = f'stroke="{shape.edge}" stroke-width="{_number(shape.edge_width)}"'
            place = _place(shape.x + inset, shape.y + inset)
            yield f'<rect {place} {size} rx="{_number(shape.radius)}" fill="{shape.fill}" {edge}/>'
        case Sign():
            size = f'width="{_number(shape.size)}" height="{_number(shape.size)}"'
            place = _place(shape.x, shape.y)
            yield f'<use href="#{_sign_id(shape.suit)}" {place} {size} fill="{shape.fill}"/>'
        case Label():
            font = f'font-size="{_number(shape.size)}"' + (' font-weight="bold"' if shape.bold else "")
            anchor = f'text-anchor="{_ANCHORS[shape.anchor]}"'
            place = _place(shape.x, shape.y)
            yield f'<text {place} {anchor} {font} fill="{shape.fill}">{escape(shape.text)}</text>'


def _place(x: float, y: float) -> str:
    return f'x="{_number(x)}" y="{_number(y)}"'


def _number(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def _sign_id(suit: str) -> str:
    return f"casino-sign-{suit}"


def _path(suit: str) -> str:
    return "".join(
        "M" + "L".join(f"{x:.3f} {y:.3f}" for x, y in polygon) + "Z" for polygon in SIGN_POLYGONS[suit]
    )
