"""`python -m api.generate`: write the derived files that are not as they should be."""

from api.generate.files import ROOT, derived_files


def main() -> None:
    """Write, and say which files changed."""
    for path, text in derived_files().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"written: {path.relative_to(ROOT)}")  # noqa: T201 -- a command that tells what it did


if __name__ == "__main__":
    main()
