"""Pages: files for a browser that a notebook shows as they are."""

from __future__ import annotations

from pathlib import Path

from ._documents import Document


class Page:
    """A page for a browser: `file` is where it is, `document` what the program says about it."""

    def __init__(self, file: Path, document: Document) -> None:
        self.file = file
        self.document = document

    def __repr__(self) -> str:
        return f"<gough.Page {self.file}>"

    def _repr_html_(self) -> str:
        from html import escape

        text = escape(self.file.read_text(encoding="utf-8"), quote=True)
        return f'<iframe srcdoc="{text}" width="100%" height="520" style="border:0"></iframe>'
